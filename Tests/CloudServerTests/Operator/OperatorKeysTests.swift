import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import Testing

@testable import CloudServer

@Suite struct OperatorKeysTests {
    private static let container = RawDevice.container

    /// The public half of a pair as a text in JSON.
    private static func pem(_ pair: P256PrivateKey) -> String {
        let text = Data(pair.publicKey.der).base64EncodedString()
        let lines = [text.prefix(64), text.dropFirst(64)].map(String.init)
        return (["-----BEGIN PUBLIC KEY-----"] + lines + ["-----END PUBLIC KEY-----", ""])
            .joined(separator: #"\n"#)
    }

    @Test func aContainerIsMadeOnceAndUsedAtOnce() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let made = try client.post("containers/add", #"{"identifier":"iCloud.com.example.new"}"#)
            #expect(made.status == 200 && made.text.contains(#""identifier":"iCloud.com.example.new""#))
            #expect(made.text.contains(#""isMade":false"#) && made.text.contains(#""tokensCount":0"#))
            #expect(try client.get("iCloud.com.example.new/tokens").text.contains(#""tokens":[]"#))
            #expect(
                try client.post("containers/add", #"{"identifier":"iCloud.com.example.new"}"#).status == 409)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.map(\.action) == [.containerAdded, .containerAdded])
            #expect(lines.map(\.outcome) == [.refused, .done])
            #expect(lines[1].container == "iCloud.com.example.new")
        }
    }

    @Test(arguments: [
        "", "..", "a/b", "../../etc", "-x", "a b", #"a\u0000"#, String(repeating: "a", count: 300),
    ])
    func aContainerWithAnUnsafeNameIsNotCreated(_ name: String) async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            #expect(try client.post("containers/add", #"{"identifier":"\#(name)"}"#).status == 400)
            #expect(try guarded.control.containers.list().map(\.identifier) == [Self.container])
        }
    }

    @Test func aTokenIsShownOnceAndIsGoodUntilItIsRevoked() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let made = try client.post(
                "\(Self.container)/tokens/add",
                #"{"name":"page","environment":"development","origins":["https://A.example.com/"],"notes":""}"#
            )
            #expect(made.status == 200, "\(made.text)")
            guard case .object(let members) = try JSONValue(json: made.body),
                case .string(let token)? = members["token"]
            else { throw Failure("no token: \(made.text)") }
            #expect(try guarded.control.tokens.app(apiToken: token)?.name == "page")
            let list = try client.get("\(Self.container)/tokens").text
            #expect(list.contains(#""origins":["https://a.example.com"]"#) && !list.contains(token))
            #expect(list.contains(#""environment":"development""#) && !list.contains("notes"))
            let changed = try client.post(
                "\(Self.container)/tokens/change", #"{"name":"page","environment":"production"}"#)
            #expect(changed.text.contains(#""environment":"production""#))
            #expect(try guarded.control.tokens.app(apiToken: token)?.environments == .production)
            #expect(try client.post("\(Self.container)/tokens/revoke", #"{"name":"page"}"#).status == 200)
            #expect(try guarded.control.tokens.app(apiToken: token) == nil)
            #expect(try client.post("\(Self.container)/tokens/revoke", #"{"name":"page"}"#).status == 404)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.map(\.action) == [.tokenRevoked, .tokenRevoked, .tokenChanged, .tokenMade])
            #expect(lines.map(\.outcome) == [.refused, .done, .done, .done])
            #expect(lines.allSatisfy { $0.names == ["page"] && $0.container == Self.container })
            #expect(!"\(lines)".contains(token))
        }
    }

    @Test(arguments: [
        #"{"name":"a\nb","environment":"both"}"#, #"{"name":"","environment":"both"}"#,
        #"{"name":"x","environment":"staging"}"#, #"{"environment":"both"}"#,
        #"{"name":"x","environment":"both","origins":["https://a.example.com/path"]}"#,
        #"{"name":"x","environment":"both","origins":"https://a.example.com"}"#,
        #"{"name":"x","environment":"both","callback":"javascript:alert(1)"}"#,
        #"{"name":"x","environment":"both","notes":7}"#, "[]", "no JSON",
    ])
    func whatCannotBeATokenIsNone(_ body: String) async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let response = try client.post("\(Self.container)/tokens/add", body)
            #expect(response.status == 400, "\(body): \(response.text)")
            #expect(try guarded.control.tokens.list().count == 2)
        }
    }

    @Test func noTokenAndNoKeyMakesAContainer() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let pem = Self.pem(try P256PrivateKey())
            let token = #"{"name":"x","environment":"both"}"#
            let key = #"{"name":"x","environment":"production","publicKey":"\#(pem)"}"#
            #expect(try client.post("iCloud.com.example.none/tokens/add", token).status == 404)
            #expect(try client.post("iCloud.com.example.none/keys/add", key).status == 404)
            #expect(try guarded.control.containers.list().count == 1)
            #expect(throws: ControlError.self) {
                try guarded.control.tokens.make(container: "iCloud.none", name: "x", makesContainer: false)
            }
        }
    }

    @Test func aKeyIsAddedByItsPublicHalf() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let pair = try P256PrivateKey()
            let pem = Self.pem(pair)
            let body = #"{"name":"jobs","environment":"production","publicKey":"\#(pem)"}"#
            let added = try client.post("\(Self.container)/keys/add", body)
            #expect(added.status == 200, "\(added.text)")
            let key = try #require(try guarded.control.serverKeys.list().first)
            #expect(key.publicKey == pair.publicKey.der && key.environment == "production")
            #expect(try client.get("\(Self.container)/keys").text.contains(#""keyID":"\#(key.id)""#))
            #expect(try client.post("\(Self.container)/keys/add", body).status == 409)
            let wrong = #"{"name":"other","environment":"production","publicKey":"none"}"#
            #expect(try client.post("\(Self.container)/keys/add", wrong).status == 400)
            let elsewhere = #"{"name":"jobs","environment":"development"}"#
            #expect(try client.post("\(Self.container)/keys/revoke", elsewhere).status == 404)
            let revoke = #"{"name":"jobs","environment":"production"}"#
            #expect(try client.post("\(Self.container)/keys/revoke", revoke).status == 200)
            #expect(try guarded.control.serverKeys.list().isEmpty)
        }
    }

    @Test func webhooksAreListedWithoutTheirSecretAndRemoved() async throws {
        try await withGuardedServer { guarded in
            let path = try DataFolder(path: guarded.folder.path).storePath(
                container: Self.container, environment: "development", makesFolders: true)
            let store = try SQLiteCloudStore(path: path)
            var changes = StoreChanges()
            changes.notifications.webhooks = [
                WebhookRow(
                    name: "shop", url: "http://127.0.0.1:9/hook", secret: Array("secret".utf8),
                    scope: .publicDatabase, recordType: "Note", madeMilliseconds: 1)
            ]
            let added = changes
            try store.write { try $0.apply(added) }
            store.close()
            let client = try OperatorClient(guarded, role: .administer)
            let list = try client.get("\(Self.container)/development/webhooks").text
            #expect(list.contains(#""database":"public""#) && list.contains(#""waiting":0"#))
            #expect(!list.contains("secret") && !list.contains("lastMilliseconds"))
            let remove = "\(Self.container)/development/webhooks/remove"
            #expect(try client.post(remove, #"{"name":"shop"}"#).status == 200)
            #expect(try client.get("\(Self.container)/development/webhooks").text.contains(#""webhooks":[]"#))
            #expect(try client.post(remove, #"{"name":"shop"}"#).status == 404)
            let lines = try guarded.control.auditLog.lines(linesMax: 3)
            #expect(lines.map(\.outcome) == [.refused, .done] && lines[1].names == ["shop"])
            #expect(lines[1].environment == "development")
        }
    }
}
