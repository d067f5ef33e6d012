import CloudStore
import CloudWire
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

/// Bob asks for everything of Ada's, at every endpoint. He learns nothing, not even that it is there: each answer is
/// that to the same request with a name of nothing, and that of a service in which Ada never was.
@Suite struct ForeignDataTests {
    static let checksMin = 3_000

    @Test func everyEndpointHasRows() {
        for endpoint in Endpoint.allCases {
            #expect(ForeignProbe.rows(of: endpoint).count >= 2, "\(endpoint)")
        }
    }

    @Test(arguments: [false, true]) func nothingOfAnotherUserIsReturnedOrChanged(onDisk: Bool) throws {
        let folder = try TemporaryFolder()
        func store(_ name: String) throws -> any CloudStore {
            onDisk ? try SQLiteCloudStore(path: folder.file(name)) : MemoryCloudStore()
        }
        let world = try ForeignWorld(store: store("ada.db"), hasAda: true)
        var sweep = ForeignSweep(
            world: world, empty: try ForeignWorld(store: store("empty.db"), hasAda: false))
        let before = try UserDump.lines(of: "_ada", in: world.store)
        #expect(before.count > 15)
        for endpoint in Endpoint.allCases {
            for probe in ForeignProbe.rows(of: endpoint) { try sweep.run(probe, at: endpoint) }
        }
        #expect(sweep.differences == [])
        #expect(sweep.checksCount >= Self.checksMin, "\(sweep.checksCount)")
        print("foreign data: \(sweep.checksCount) checks, \(sweep.statuses.sorted { $0.key < $1.key })")
        while try world.cloud.service.preparePushes() {}
        #expect(try UserDump.lines(of: "_ada", in: world.store) == before)
    }

    /// The side doors, of which each has its own key: one that is like Ada's opens nothing.
    @Test func addressesLikeAnothersLeadNowhere() throws {
        let world = try ForeignWorld(store: MemoryCloudStore(), hasAda: true)
        let (cloud, zone) = (world.cloud, ZoneID(zoneName: "adas"))
        let before = try UserDump.lines(of: "_ada", in: world.store)
        func refusal(_ body: () throws -> Void) -> WireError? {
            do { try body() } catch let error as WireError { return error } catch { return nil }
            return nil
        }
        let ticket = try ForeignWorld.ticket(cloud, zone: zone, user: "adas-session")
        let bobs = try ForeignWorld.ticket(cloud, zone: ZoneID(zoneName: "bobs"), user: "bob")
        let token = try #require(world.pairs["deviceToken"])
        let checksum = try #require(world.pairs["checksum"])
        for text in [ticket.uppercased(), String(ticket.dropLast()), ticket + bobs, "x"] {
            #expect(refusal { _ = try cloud.service.beginUpload(ticket: text) } == ServiceError.noSuchUpload)
            for sum in [checksum.adas, checksum.nobodys] {
                let error = refusal { _ = try cloud.service.openAsset(checksum: sum, ticket: text) }
                #expect(error == ServiceError.noSuchFile)
            }
        }
        // What is good for one thing is good for no other.
        for text in [ticket, bobs, try #require(world.pairs["receipt"]).adas] {
            #expect(
                refusal { _ = try cloud.service.openAsset(checksum: checksum.adas, ticket: text) }
                    == ServiceError.noSuchFile)
        }
        for text in [token.adas.uppercased(), String(token.adas.dropLast()), token.adas + " ", token.nobodys]
        {
            #expect(
                refusal { _ = try cloud.service.takePush(apnsToken: text) } == ServiceError.unknownDeviceToken
            )
        }
        #expect(try UserDump.lines(of: "_ada", in: world.store) == before)
    }
}

/// Asks Bob's requests and compares the answers.
private struct ForeignSweep {
    private static let differencesMax = 12

    let world: ForeignWorld
    /// Without Ada.
    let empty: ForeignWorld
    private(set) var checksCount = 0
    private(set) var differences: [String] = []
    private(set) var statuses: [Int: Int] = [:]

    init(world: ForeignWorld, empty: ForeignWorld) {
        self.world = world
        self.empty = empty
    }

    mutating func run(_ probe: ForeignProbe, at endpoint: Endpoint) throws {
        let values: [(adas: String, nobodys: String)]
        switch probe.kind {
        case .zone: values = ForeignWorld.zones
        case .value(let name): values = [try #require(world.pairs[name], "\(name)")]
        case .session: values = ForeignWorld.sessions
        case .device: values = [("secrets phone", "qzxwvus phone")]
        case .operation: values = [("adas-operation", "qzxw-operation")]
        }
        for scope in probe.scopes {
            for value in values {
                for extras in probe.kind == .zone ? [true] : [true, false] {
                    check(probe, endpoint, scope, value, extras)
                }
            }
        }
    }

    private mutating func check(
        _ probe: ForeignProbe, _ endpoint: Endpoint, _ scope: String,
        _ value: (adas: String, nobodys: String),
        _ extras: Bool
    ) {
        func ask(_ world: ForeignWorld, _ value: String) -> (text: String, status: Int) {
            let request = Self.request(probe, endpoint, scope, value, extras)
            let response = world.cloud.service.respond(to: request)
            return (Self.normal(response), response.status)
        }
        let (adas, status) = ask(world, value.adas)
        let nobodys = ask(world, value.nobodys).text
        let without = ask(empty, value.adas).text
        // So that Bob has the same in both.
        _ = ask(empty, value.nobodys)
        checksCount += 1
        statuses[status, default: 0] += 1
        guard differences.count < Self.differencesMax else { return }
        let what = "\(scope)/\(endpoint.rawValue) \(probe.kind) \(value.adas): \(adas)"
        if Self.named(adas) != Self.named(nobodys) { differences.append("\(what)\n is not \(nobodys)") }
        if adas != without { differences.append("\(what)\n is not, where Ada never was, \(without)") }
    }

    private static func request(
        _ probe: ForeignProbe, _ endpoint: Endpoint, _ scope: String, _ value: String, _ extras: Bool
    ) -> WireRequest {
        let prefix = scope == "device" ? "device" : "database"
        let place = "\(TestService.container.identifier)/\(TestService.container.environment)"
        let path = "/\(prefix)/1/\(place)/\(scope == "device" ? "" : "\(scope)/")\(endpoint.rawValue)"
        let token = probe.kind == .session ? value : "bob"
        var request = WireRequest(
            path: path, query: [("ckWebAuthToken", token), ("getCurrentSyncToken", "true")],
            headers: extras ? [(WireHeader.client, "1")] : [],
            body: Array(probe.body.replacing("$V", with: value).utf8), serverURL: "https://cloud.example.com")
        if probe.kind == .device { request.query.append(("clientId", value)) }
        if probe.kind == .operation { request.headers.append((WireHeader.operation, value)) }
        return request
    }

    /// Status and body; what is drawn anew each time is a sign of its kind.
    private static func normal(_ response: WireResponse) -> String {
        guard let answer = try? JSONValue(json: response.body) else { return "\(response.status) no JSON" }
        let text = String(decoding: (try? normal(answer).json()) ?? [], as: UTF8.self)
        return "\(response.status) \(text)"
    }

    private static let drawn: Set<String> = [
        "uuid", "syncToken", "metaSyncToken", "recordChangeTag", "continuationMarker", "receipt", "url",
        "downloadURL",
        "apnsToken", "webcourierURL", "notificationID", "nid", "checksum",
    ]

    private static func normal(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { normal($0) })
        case .object(let members):
            var normal: [String: JSONValue] = [:]
            for (key, value) in members {
                normal[key] = drawn.contains(key) ? .string("a \(key)") : Self.normal(value)
            }
            return .object(normal)
        default: return value
        }
    }

    /// The text with Ada's names, and those of nothing, under one name each.
    private static func named(_ text: String) -> String {
        var text = text
        let names = [
            ("secret", "qzxwvu"), ("adas", "qzxw"), ("ADAS", "QZXW"), ("_ada", "_qzx"), ("_ADA", "_QZX"),
            ("%61das", "%71zxw"), ("%5F%61da", "%5F%71zx"), ("\u{430}das", "\u{51B}zxw"),
            ("_\u{430}da", "_\u{51B}zx"),
            ("\u{FF41}das", "\u{FF51}zxw"), ("_\u{FF41}da", "_\u{FF51}zx"), ("a\u{301}das", "q\u{301}zxw"),
            ("_a\u{301}da", "_q\u{301}zx"), ("ada@", "qzx@"),
        ]
        for (adas, nobodys) in names { text = text.replacing(nobodys, with: adas) }
        return text
    }
}
