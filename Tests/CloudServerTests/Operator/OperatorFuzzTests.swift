import CloudStore
import CloudWire
import Foundation
import System
import TestSeed
import Testing

@testable import CloudServer

/// Hostile requests to the operator API, drawn from a seed.
@Suite struct OperatorFuzzTests {
    private static let requestsCount = 300

    @Test func randomRequestsOfAdministratorsGetAnAnswerThatIsNoFaultOfTheServer() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        try await withGuardedServer(configure: { $0.clock = clock }) { guarded in
            var draw = OperatorDraw(ada: try OperatorClient(guarded).ada)
            for number in 0..<Self.requestsCount {
                // Each administrator has so many requests a second.
                clock.advance(bySeconds: 1)
                let role = draw.one(of: AdministratorRole.allCases)
                // A session may have been ended by the request before.
                let client = try OperatorClient(guarded, role: role)
                let request = draw.request()
                let response =
                    request.body.map { try? client.post(request.path, $0) } ?? (try? client.get(request.path))
                let name = "seed \(TestSeed.value), request \(number): \(role) \(request)"
                let answer = try #require(response, "\(name): no answer")
                try Self.check(answer, name)
            }
            #expect(try RawConnection(port: guarded.server.port).exchange("GET", "/health").status == 200)
            try Self.checkNothingWasDone(byRole: "look", guarded)
        }
    }

    private static func check(_ response: RawResponse, _ name: String) throws {
        #expect(response.status < 500, "\(name): \(response.status) \(response.text.prefix(300))")
        #expect(response.body.count < 1 << 20, "\(name): \(response.body.count) bytes")
        let answer = try #require(try? JSONValue(json: response.body), "\(name): no JSON")
        guard response.status != 200 else { return }
        #expect(answer["serverErrorCode"].text != nil, "\(name): \(response.text.prefix(300))")
        #expect((answer["reason"].text ?? "").utf8.count < 5_000, "\(name)")
        #expect(answer["uuid"].text != nil || response.status == 400, "\(name): \(response.text.prefix(300))")
    }

    /// An administrator who may look has looked, signed out, or was refused.
    private static func checkNothingWasDone(byRole role: String, _ guarded: GuardedServer) throws {
        let own: Set<AuditLine.Action> = [.lookAsUser, .signOut, .sessionEnded, .password]
        for line in try guarded.control.auditLog.lines(linesMax: 100_000)
        where line.role == role && line.outcome == .done {
            #expect(own.contains(line.action), "\(line)")
        }
    }
}

/// Draws requests: those of the table of endpoints, with hostile parts.
private struct OperatorDraw {
    struct Request: CustomStringConvertible {
        var path: String
        /// Nil for GET.
        var body: String?
        var description: String { "\(body == nil ? "GET" : "POST") \(path) \((body ?? "").prefix(300))" }
    }

    private let ada: String
    private let random = SeededRandomSource(seed: TestSeed.value)

    init(ada: String) { self.ada = ada }

    mutating func one<Element>(of all: [Element]) -> Element { all[random.next(in: 0..<all.count)] }

    private mutating func isOne(in count: Int) -> Bool { random.next(in: 0..<count) == 0 }

    mutating func request() -> Request {
        var (path, body) = one(of: endpoints)
        if isOne(in: 3) { path = withHostileSegment(path) }
        for _ in 0..<random.next(in: 0..<4) { path = withItem(path) }
        guard var text = body else { return Request(path: path) }
        if isOne(in: 2) { text = withHostileValue(text) }
        if isOne(in: 8) { text = one(of: Self.bodies) }
        return Request(path: path, body: text)
    }

    private mutating func withHostileSegment(_ path: String) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        parts[random.next(in: 0..<parts.count)] = one(of: Self.segments)
        return parts.joined(separator: "/")
    }

    private mutating func withItem(_ path: String) -> String {
        let item = "\(one(of: Self.items))=\(one(of: Self.itemValues + [ada]))"
        return path + (path.contains("?") ? "&" : "?") + item
    }

    /// Replaces one of the values in a body.
    private mutating func withHostileValue(_ body: String) -> String {
        let parts = body.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1 else { return one(of: Self.bodies) }
        let place = random.next(in: 1..<parts.count)
        var changed = parts
        let rest = parts[place].drop { $0 != "," && $0 != "}" && $0 != "]" }
        changed[place] = one(of: Self.values) + rest
        return changed.joined(separator: ":")
    }

    private var endpoints: [(path: String, body: String?)] {
        let place = "\(RawDevice.container)/development"
        let user = "user=\(ada)"
        return [
            ("session", nil), ("session", #"{"name":"look","password":"wrong password"}"#),
            ("session", #"{"link":"none"}"#), ("session/end", "{}"),
            ("session/password", #"{"password":"another sentence","current":"none"}"#), ("sessions", nil),
            ("sessions/end", #"{"session":"none"}"#), ("administrators", nil),
            ("administrators/add", #"{"name":"new","role":"look"}"#),
            ("administrators/link", #"{"name":"look"}"#),
            ("administrators/role", #"{"name":"x","role":"look"}"#),
            ("administrators/remove", #"{"name":"new"}"#), ("audit", nil), ("containers", nil),
            ("containers/add", #"{"identifier":"iCloud.com.example.new"}"#), ("accounts", nil),
            ("accounts/ada", nil), ("accounts/change", #"{"name":"none","email":"a@example.com"}"#),
            ("accounts/disable", #"{"name":"none"}"#), ("accounts/delete", #"{"name":"none","erase":true}"#),
            ("accounts/sessions/end", #"{"name":"none","session":"none"}"#), ("live", nil),
            ("live/hours", nil),
            ("requests", nil), ("requests/none", nil), ("\(RawDevice.container)/accounts", nil),
            ("\(RawDevice.container)/tokens", nil),
            (
                "\(RawDevice.container)/tokens/add",
                #"{"name":"new","environment":"both","origins":["https://a"]}"#
            ),
            ("\(RawDevice.container)/tokens/revoke", #"{"name":"new"}"#),
            ("\(RawDevice.container)/keys", nil),
            (
                "\(RawDevice.container)/keys/add",
                #"{"name":"new","environment":"production","publicKey":"-----BEGIN PUBLIC KEY-----"}"#
            ), ("\(place)/webhooks", nil), ("\(place)/webhooks/remove", #"{"name":"none"}"#),
            ("\(place)/schema", nil), ("\(place)/schema/indexes", nil),
            ("\(place)/schema/check", #"{"text":"DEFINE SCHEMA\nRECORD TYPE A ( b STRING );"}"#),
            ("\(place)/schema/import", #"{"text":"DEFINE SCHEMA"}"#),
            (
                "\(place)/schema/change",
                #"{"operations":[{"op":"addType","recordType":"T"},"#
                    + #"{"op":"addField","recordType":"T","field":"f","type":"STRING"}]}"#
            ), ("\(place)/schema/reset", #"{"container":"none"}"#),
            ("\(RawDevice.container)/schema/difference", nil),
            ("\(RawDevice.container)/schema/deploy", #"{"plan":"none","remove":true}"#),
            ("\(place)/counts", nil), ("\(place)/backlog", nil), ("\(place)/devices?\(user)", nil),
            ("\(place)/sync", nil), ("\(place)/sync?\(user)", nil), ("\(place)/usage", nil),
            ("\(place)/usage/zones?\(user)", nil), ("\(place)/slow", nil),
            (
                "\(place)/private/records/modify?\(user)",
                #"{"operations":[{"operationType":"create","record":"#
                    + #"{"recordName":"a","recordType":"Note","fields":{}}}]}"#
            ),
            (
                "\(place)/private/records/query?\(user)&count=true",
                #"{"query":{"recordType":"Note","filterBy":"#
                    + #"[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1}}]}}"#
            ),
            ("\(place)/private/records/query?\(user)&valueBytesMax=8", #"{"query":{"recordType":"Note"}}"#),
            ("\(place)/private/records/lookup?\(user)", #"{"records":[{"recordName":"a"}]}"#),
            ("\(place)/private/zones/list?\(user)", "{}"),
            ("\(place)/private/changes/zone?\(user)", #"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#),
            ("\(place)/private/assets/upload?\(user)", #"{"tokens":[{"fieldName":"a"}]}"#),
            ("\(place)/private/subscriptions/list?\(user)", "{}"),
        ]
    }

    private static let segments = [
        "", ".", "..", "%2e%2e", "%00", "%2F", "%", "a%0d%0ab", "%F0%9F%98%80", "iCloud.com.example.none",
        "production", "PUBLIC", "shared", "accounts", "sessions", String(repeating: "a", count: 300), "'",
        "%22",
        "*", "-1", "records%2Fmodify", "%3Cscript%3E",
    ]

    private static let items = [
        "user", "after", "before", "limit", "container", "environment", "database", "session", "zone",
        "operation",
        "code", "slow", "from", "to", "record", "administrator", "id", "named", "recordType", "remove",
        "count",
        "valueBytesMax", "ckAPIToken", "numbersAsStrings",
    ]

    private static let itemValues = [
        "", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e400",
        "NaN",
        "true", "*", "'", "%22", "%00", "%25", "%F0%9F%98%80", "_", "_" + String(repeating: "0", count: 32),
        String(repeating: "z", count: 2_000), "null", "development", "private", "iCloud.com.example.none",
    ]

    private static let values = [
        "null", "true", "-1", "1e999", "9223372036854775808", "[]", "{}", "\"\"", #""\u0000""#, #""\ud800""#,
        "\"" + String(repeating: "x", count: 3_000) + "\"", "[[[[[[]]]]]]", #""../../etc""#, "[null]", "0.5",
        #""<script>alert(1)</script>""#,
    ]

    private static let bodies = [
        "", "null", "[]", "{", "\"a\"", "{\"a\":}", "\u{FEFF}{}", String(repeating: "[", count: 2_000),
        #"{"name":"a","name":"b"}"#, #"{"operations":[]}"#, "{}{}",
    ]
}
