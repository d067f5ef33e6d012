import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer
@testable import CloudService

/// Every endpoint times everybody who may not ask, over HTTP. `docs/ACCESS.md` shows the same table.
@Suite struct AccessTableTests {
    /// A request for an endpoint as somebody asks it.
    private struct Asked {
        var module = "database"
        var database: String
        var token: String?
        var key: String?
        var zoneName = "_defaultZone"
        var owner: String?
        var recordType = "Note"
        /// With the API token of an app that is out, which is for production.
        var isOfReleasedApp = false

        var recordName: String { "adas-\(recordType)" }
    }

    /// Ada's container: a zone and a record of her own, and public records. Bob has nothing, and an old token; Carol is
    /// an editor, who alone may change articles, and alone may see drafts.
    private final class Scene {
        let guarded: GuardedServer
        let connection: RawConnection
        let releasedToken: String
        let bob: String
        let carol: String
        let ended: String
        let key: P256PrivateKey
        let liveKey: String
        let revokedKey: String
        let adasName: String

        init(_ guarded: GuardedServer) throws {
            self.guarded = guarded
            connection = try RawConnection(port: guarded.server.port)
            let control = guarded.control
            releasedToken = try control.tokens.make(
                container: RawDevice.container, name: "released", environments: .production)
            let account = try control.accounts.add(name: "bob", passwordHash: "x")
            let editor = try control.accounts.add(name: "carol", passwordHash: "x", isDeveloper: true)
            func signIn(_ life: Int64?, _ account: ControlAccount) throws -> String {
                try control.sessions.make(
                    of: account, container: RawDevice.container, environment: "development",
                    lifeMilliseconds: life
                ).token
            }
            bob = try signIn(nil, account)
            carol = try signIn(nil, editor)
            ended = try signIn(1_000_000, account)
            _ = try control.sessions.end(token: ended)
            let key = try P256PrivateKey()
            self.key = key
            func addKey(_ name: String) throws -> String {
                try control.serverKeys.add(
                    container: RawDevice.container, environment: "development", name: name,
                    publicKey: key.publicKey.der
                ).id
            }
            liveKey = try addKey("live")
            revokedKey = try addKey("revoked")
            _ = try control.serverKeys.revoke(
                container: RawDevice.container, environment: "development", name: "revoked")
            adasName = try #require(try control.sessions.find(token: guarded.session)?.userRecordName)
            try prepare()
            try grant(to: control.accounts.userRecordName(of: editor, container: RawDevice.container))
        }

        /// Gives roles their permissions as `yap schema import` and `yap role assign` do, beside the server.
        private func grant(to editor: String) throws {
            let path = try DataFolder(path: guarded.folder.path).storePath(
                container: RawDevice.container, environment: "development")
            let store = try SQLiteCloudStore(path: path)
            defer { store.close() }
            let service = CloudService(
                store: store, clock: SystemTimeSource(), random: SystemRandomSource(),
                container: CloudService.Container(identifier: RawDevice.container))
            _ = try service.schemaMaintenance.changeSchema { schema in
                var schema = schema
                schema.roles = ["editor"]
                let all: Permissions = [.read, .create, .write]
                schema.recordTypes["Article"]?.grants = [SystemRole.world: .read, "editor": all]
                schema.recordTypes["Draft"]?.grants = ["editor": all]
                return schema
            }
            _ = try service.schemaMaintenance.setRole("editor", ofUser: editor, isAssigned: true)
        }

        /// Ada makes what others will ask for.
        private func prepare() throws {
            let make = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"adas"}}}]}"#
            let save = AccessTableTests.body(.recordsModify, Asked(database: "", zoneName: "adas"))
            let publicSaves = ["Note", "Article", "Draft"].map { type in
                AccessTableTests.body(.recordsModify, Asked(database: "", recordType: type))
            }
            for (path, body) in [("private/zones/modify", make), ("private/records/modify", save)]
                + publicSaves.map({ ("public/records/modify", $0) })
            {
                let target = guarded.target(path, apiToken: guarded.openToken, session: guarded.session)
                let response = try connection.exchange("POST", target, body: Array(body.utf8))
                guard response.status == 200, !response.text.contains("serverErrorCode") else {
                    throw Failure("\(path): \(response.text)")
                }
            }
        }

        /// What an endpoint comes to: its status, and the codes in the answer that the status doesn't tell.
        func ask(_ endpoint: Endpoint, _ asked: Asked) throws -> String {
            let place = asked.database.isEmpty ? "" : "\(asked.database)/"
            let path = "/\(asked.module)/1/\(RawDevice.container)/development/\(place)\(endpoint.rawValue)"
            let body = Array(AccessTableTests.body(endpoint, asked).utf8)
            var target = path
            var headers: [(name: String, value: String)] = []
            if let keyID = asked.key {
                let date = logTime(milliseconds: SystemTimeSource().nowMilliseconds())
                let message = "\(date):\(SignedRequest.base64(try SHA256.hash(body))):\(path)"
                headers = [
                    (WireHeader.keyID, keyID), (WireHeader.signedDate, date),
                    (
                        WireHeader.signature,
                        SignedRequest.base64(try key.signature(of: Array(message.utf8)))
                    ),
                ]
            } else {
                target += "?ckAPIToken=\(asked.isOfReleasedApp ? releasedToken : guarded.openToken)"
                if let token = asked.token { target += "&ckWebAuthToken=\(token)" }
            }
            let response = try connection.exchange("POST", target, headers: headers, body: body)
            let codes = response.text.split(separator: "\"serverErrorCode\":\"").dropFirst().map {
                String($0.prefix { $0 != "\"" })
            }
            let isTold = [400, 401, 403, 421].contains(response.status)
            return (["\(response.status)"] + (isTold ? [] : Set(codes).sorted())).joined(separator: " ")
        }
    }

    /// The columns: who asks, and what for.
    private enum Column: String, CaseIterable {
        case nobody = "anonymous, public"
        case nobodyElsewhere = "anonymous, private"
        case anotherUser = "another user, same names"
        case withoutRole = "a user without the role, public"
        case articleWithoutRole = "a type that editors write, by another user"
        case articleWithRole = "a type that editors write, by an editor"
        case draftByNobody = "a type that editors read, anonymous"
        case draftWithoutRole = "a type that editors read, by another user"
        case draftWithRole = "a type that editors read, by an editor"
        case wrongDatabase = "an unsupported database"
        case wrongOwner = "another's zone, by its owner"
        case endedToken = "an expired token"
        case unknownToken = "an unknown token"
        case revokedKey = "a revoked key"
        case serverKey = "a server's key, public"
        case serverKeyElsewhere = "a server's key, private"
        case otherEnvironment = "an app's token for production only"
        case nobodyClosed = "anonymous, development for developers"
        case noDeveloper = "not a developer, development for developers"
        case developer = "a developer, development for developers"

        /// Whether the server's development is for developers only.
        var isClosed: Bool { [.nobodyClosed, .noDeveloper, .developer].contains(self) }

        private static func ofType(_ type: String, _ endpoint: Endpoint, _ token: String?) -> Asked? {
            ofTypes.contains(endpoint) ? Asked(database: "public", token: token, recordType: type) : nil
        }

        /// Nil: nobody can ask that.
        func asked(_ endpoint: Endpoint, _ scene: Scene) -> Asked? {
            let row = EndpointRow.row(of: endpoint)
            let isPublic = row.scopes.contains(.public)
            let isPrivate = row.scopes.contains(.private)
            // What belongs to a device has no database in its path.
            func own(_ database: String) -> Asked {
                row.isOfDevice ? Asked(module: "device", database: "") : Asked(database: database)
            }
            var asked = own(isPrivate ? "private" : "public")
            asked.zoneName = isPrivate ? "adas" : "_defaultZone"
            switch self {
            case .nobody: return isPublic ? Asked(database: "public") : nil
            case .nobodyElsewhere: return isPrivate || row.isOfDevice ? own("private") : nil
            case .anotherUser:
                guard isPrivate else { return nil }
                asked.token = scene.bob
            case .withoutRole:
                guard isPublic else { return nil }
                asked = Asked(database: "public", token: scene.bob)
            case .articleWithoutRole: return Self.ofType("Article", endpoint, scene.bob)
            case .articleWithRole: return Self.ofType("Article", endpoint, scene.carol)
            case .draftByNobody: return Self.ofType("Draft", endpoint, nil)
            case .draftWithoutRole: return Self.ofType("Draft", endpoint, scene.bob)
            case .draftWithRole: return Self.ofType("Draft", endpoint, scene.carol)
            case .wrongDatabase:
                guard let scope = DatabaseScope.allCases.first(where: { !row.scopes.contains($0) }),
                    !row.isOfDevice
                else { return nil }
                asked = Asked(database: scope.rawValue, token: scene.bob)
            case .wrongOwner:
                guard isPrivate else { return nil }
                asked.token = scene.bob
                asked.owner = scene.adasName
            case .endedToken: asked.token = scene.ended
            case .unknownToken: asked.token = String(repeating: "0", count: 64)
            case .revokedKey: asked.key = scene.revokedKey
            case .serverKey:
                guard isPublic else { return nil }
                asked = Asked(database: "public", key: scene.liveKey)
            case .serverKeyElsewhere:
                guard isPrivate || row.isOfDevice else { return nil }
                asked.key = scene.liveKey
            case .otherEnvironment:
                asked.token = scene.bob
                asked.isOfReleasedApp = true
            case .nobodyClosed: asked = own(isPublic ? "public" : "private")
            case .noDeveloper: asked.token = scene.bob
            case .developer:
                asked.token = scene.carol
                asked.zoneName = "_defaultZone"
            }
            return asked
        }
    }

    /// The endpoints that a type's grants decide about, in the public database.
    private static let ofTypes: Set<Endpoint> = [
        .recordsModify, .recordsQuery, .recordsQueryBatch, .recordsLookup, .assetsRereference,
        .subscriptionsModify,
    ]

    /// A whole body, as far as the endpoint looks at one before it decides.
    private static func body(_ endpoint: Endpoint, _ asked: Asked) -> String {
        let (zoneName, type, name) = (asked.zoneName, asked.recordType, asked.recordName)
        let owner = asked.owner.map { #","ownerRecordName":"\#($0)""# } ?? ""
        let zone = #"{"zoneName":"\#(zoneName)"\#(owner)}"#
        let record = #"{"recordName":"\#(name)","recordType":"\#(type)","fields":{"text":{"value":"x"}}}"#
        switch endpoint {
        case .recordsModify:
            return #"{"operations":[{"operationType":"forceUpdate","record":\#(record)}],"zoneID":\#(zone)}"#
        case .recordsQuery: return #"{"query":{"recordType":"\#(type)"},"zoneID":\#(zone)}"#
        case .recordsQueryBatch:
            return #"{"batch":[{"query":{"recordType":"\#(type)"},"zoneID":\#(zone)}]}"#
        case .recordsLookup: return #"{"records":[{"recordName":"\#(name)"}],"zoneID":\#(zone)}"#
        case .recordsChanges: return #"{"zoneID":\#(zone)}"#
        case .changesZone, .zonesChanges: return #"{"zones":[{"zoneID":\#(zone)}]}"#
        case .zonesLookup: return #"{"zones":[\#(zone)]}"#
        case .zonesModify:
            return #"{"operations":[{"operationType":"delete","zone":{"zoneID":\#(zone)}}]}"#
        case .assetsUpload:
            let token = #"{"recordName":"\#(name)","recordType":"\#(type)","fieldName":"file"}"#
            return #"{"tokens":[\#(token)],"zoneID":\#(zone)}"#
        case .assetsRereference:
            let asset = #"{"recordName":"\#(name)","recordType":"\#(type)","fieldName":"file"}"#
            return #"{"assets":[\#(asset)],"zoneID":\#(zone)}"#
        case .usersLookupEmail: return #"{"users":[{"emailAddress":"ada@example.com"}]}"#
        case .usersLookupID: return #"{"users":[{"userRecordName":"_0"}]}"#
        case .subscriptionsLookup: return #"{"subscriptions":[{"subscriptionID":"adas"}]}"#
        case .subscriptionsModify where type != "Note":
            let query = #""query":{"recordType":"\#(type)"},"firesOn":["create"]"#
            let subscription = #"{"subscriptionID":"\#(type)","subscriptionType":"query",\#(query)}"#
            return #"{"operations":[{"operationType":"create","subscription":\#(subscription)}]}"#
        case .subscriptionsModify:
            return #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"adas"}}]}"#
        case .tokensCreate: return #"{"apnsEnvironment":"development"}"#
        case .tokensRegister: return #"{"apnsEnvironment":"development","apnsToken":"adas"}"#
        default: return "{}"
        }
    }

    @Test func everyEndpointRespondsToEachCallerAsInTheTable() async throws {
        try await withGuardedServers { open, closed in
            let (scene, closedScene) = (try Scene(open), try Scene(closed))
            var found: [String: String] = [:]
            for endpoint in Endpoint.allCases {
                let cells = try Column.allCases.map { column -> String in
                    let scene = column.isClosed ? closedScene : scene
                    return try column.asked(endpoint, scene).map { try scene.ask(endpoint, $0) } ?? "-"
                }
                found[endpoint.rawValue] = cells.joined(separator: ", ")
            }
            if Self.writesTables { try Self.write(found) }
            for endpoint in Endpoint.allCases.map(\.rawValue) {
                #expect(Self.table[endpoint] == found[endpoint], "\(endpoint)")
            }
            #expect(Self.table.count == Endpoint.allCases.count)
        }
    }

    private func withGuardedServers(
        _ body: @escaping @Sendable (_ open: GuardedServer, _ closed: GuardedServer) throws -> Void
    ) async throws {
        try await onThread {
            let open = try GuardedServer()
            defer { open.server.stop() }
            let closed = try GuardedServer { $0.development = .developers }
            defer { closed.server.stop() }
            try body(open, closed)
        }
    }

    @Test func theDocumentShowsTheSameTable() throws {
        let document = try String(contentsOfFile: Self.documentPath, encoding: .utf8)
        #expect(document.contains(Self.text(of: Self.table)))
    }

    // MARK: - `YAP_TABLES=write swift test --filter AccessTableTests` writes what it finds, for a person to compare.

    private static let writesTables = ProcessInfo.processInfo.environment["YAP_TABLES"] == "write"
    private static let documentPath =
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/ACCESS.md")
        .standardized.path

    private static func text(of table: [String: String]) -> String {
        let columns = Column.allCases.map(\.rawValue)
        let rows = Endpoint.allCases.map {
            "| `\($0.rawValue)` | \((table[$0.rawValue] ?? "").replacing(", ", with: " | ")) |"
        }
        return
            (["| endpoint | \(columns.joined(separator: " | ")) |"]
            + ["|\(String(repeating: "---|", count: columns.count + 1))"] + rows).joined(separator: "\n")
            + "\n"
    }

    private static func write(_ table: [String: String]) throws {
        func replace(_ path: String, from start: String, to end: String, with text: String) throws {
            var content = try String(contentsOfFile: path, encoding: .utf8)
            let first = try #require(content.range(of: start)).lowerBound
            let last = try #require(content[first...].range(of: end)).lowerBound
            content.replaceSubrange(first..<last, with: text)
            try content.write(toFile: path, atomically: true, encoding: .utf8)
        }
        try replace(documentPath, from: "| endpoint |", to: "\n- `-`", with: text(of: table))
        let rows = Endpoint.allCases.map { endpoint in
            let cells = (table[endpoint.rawValue] ?? "").split(separator: ", ")
            let (first, rest) = (cells.prefix(8), cells.dropFirst(8))
            let quotes = "\"\"\""
            return "        \"\(endpoint.rawValue)\": \(quotes)\n"
                + "        \(first.joined(separator: ", ")), \\\n"
                + "        \(rest.joined(separator: ", "))\n        \(quotes),\n"
        }
        // The mark stands apart here, so that this line isn't one.
        let mark = "private static let table: " + "[String: String] = [\n"
        try replace(#filePath, from: mark, to: "    ]\n", with: mark + rows.joined())
    }

    /// An endpoint, and a cell a column.
    private static let table: [String: String] = [
        "records/modify": """
        421, 421, 200 ZONE_NOT_FOUND, 200 ACCESS_DENIED, 200 ACCESS_DENIED, 200, 421, 200 ACCESS_DENIED, \
        200, -, 200 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "records/query": """
        200, 421, 404 ZONE_NOT_FOUND, 200, 200, 200, 403, 403, \
        200, -, 404 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "internal/records/query/batch": """
        200, 421, 404 ZONE_NOT_FOUND, 200, 200, 200, 403, 403, \
        200, -, 404 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "records/lookup": """
        200, 421, 200 ZONE_NOT_FOUND, 200, 200, 200, 200 NOT_FOUND, 200 NOT_FOUND, \
        200, -, 200 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "records/changes": """
        -, 421, 404 ZONE_NOT_FOUND, -, -, -, -, -, \
        -, 400, 404 ZONE_NOT_FOUND, 421, 401, 401, -, 401, 401, 421, 403, 400
        """,
        "records/resolve": """
        421, -, -, 400, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 400
        """,
        "records/accept": """
        421, -, -, 400, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 400
        """,
        "records/zip/prepare": """
        -, 421, 400, -, -, -, -, -, \
        -, 400, 400, 421, 401, 401, -, 401, 401, 421, 403, 400
        """,
        "records/copy/start": """
        -, 421, 400, -, -, -, -, -, \
        -, 400, 400, 421, 401, 401, -, 401, 401, 421, 403, 400
        """,
        "records/copy/status": """
        -, 421, 400, -, -, -, -, -, \
        -, 400, 400, 421, 401, 401, -, 401, 401, 421, 403, 400
        """,
        "changes/database": """
        -, 421, 200, -, -, -, -, -, \
        -, 400, 200, 421, 401, 401, -, 401, 401, 421, 403, 200
        """,
        "changes/zone": """
        -, 421, 200 ZONE_NOT_FOUND, -, -, -, -, -, \
        -, 400, 200 ZONE_NOT_FOUND, 421, 401, 401, -, 401, 401, 421, 403, 200 BAD_REQUEST
        """,
        "zones/list": """
        421, 421, 200, 200, -, -, -, -, \
        -, -, 200, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "zones/lookup": """
        421, 421, 200 ZONE_NOT_FOUND, 200, -, -, -, -, \
        -, -, 200 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "zones/modify": """
        -, 421, 200 ZONE_NOT_FOUND, -, -, -, -, -, \
        -, 400, 200 ZONE_NOT_FOUND, 421, 401, 401, -, 401, 401, 421, 403, 200 BAD_REQUEST
        """,
        "zones/changes": """
        -, 421, 200, -, -, -, -, -, \
        -, 400, 200, 421, 401, 401, -, 401, 401, 421, 403, 200
        """,
        "assets/upload": """
        421, 421, 200, 200, -, -, -, -, \
        -, -, 404 ZONE_NOT_FOUND, 421, 401, 401, 200, 401, 401, 421, 403, 200
        """,
        "assets/rereference": """
        421, 421, 200 NOT_FOUND, 200 BAD_REQUEST, 200 BAD_REQUEST, 200 BAD_REQUEST, 421, 200 NOT_FOUND, \
        200 BAD_REQUEST, -, 404 ZONE_NOT_FOUND, 421, 401, 401, 200 BAD_REQUEST, 401, 401, 421, 403, 200 BAD_REQUEST
        """,
        "users/caller": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 200, -, 401, 421, 403, 200
        """,
        "users/current": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "users/discover": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "users/lookup/email": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "users/lookup/id": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "users/lookup/contacts": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "users/discoverability": """
        421, -, -, 200, -, -, -, -, \
        -, 400, -, 421, 401, 401, 401, -, 401, 421, 403, 200
        """,
        "subscriptions/modify": """
        421, 421, 200 NOT_FOUND, 200 NOT_FOUND, 200, 200, 421, 200, \
        200, -, 200 NOT_FOUND, 421, 401, 401, 401, 401, 401, 421, 403, 200 NOT_FOUND
        """,
        "subscriptions/list": """
        421, 421, 200, 200, -, -, -, -, \
        -, -, 200, 421, 401, 401, 401, 401, 401, 421, 403, 200
        """,
        "subscriptions/lookup": """
        421, 421, 200 NOT_FOUND, 200 NOT_FOUND, -, -, -, -, \
        -, -, 200 NOT_FOUND, 421, 401, 401, 401, 401, 401, 421, 403, 200 NOT_FOUND
        """,
        "tokens/create": """
        -, 421, -, -, -, -, -, -, \
        -, -, -, 421, 401, 401, -, 401, 401, 421, 403, 200
        """,
        "tokens/register": """
        -, 421, -, -, -, -, -, -, \
        -, -, -, 421, 401, 401, -, 401, 401, 421, 403, 404 NOT_FOUND
        """,
        "notifications/list": """
        -, 421, -, -, -, -, -, -, \
        -, -, -, 421, 401, 401, -, 401, 401, 421, 403, 200
        """,
        "notifications/read": """
        -, 421, -, -, -, -, -, -, \
        -, -, -, 421, 401, 401, -, 401, 401, 421, 403, 400
        """,
    ]
}
