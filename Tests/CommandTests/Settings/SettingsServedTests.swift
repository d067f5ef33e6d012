import CloudStore
import CloudWire
import Foundation
import HTTPClient
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What stands in yap.json holds for a server as a process, and for the commands beside it.
@Suite struct SettingsServedTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func post(_ url: String, _ body: [UInt8]) async throws -> (status: Int, text: String) {
        let request = HTTPClientRequest(method: "POST", url: url, body: body)
        let response = try await withCheckedThrowingContinuation { continuation in
            _ = http.send(request) { continuation.resume(with: $0) }
        }
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test func whatTheFileSaysHolds() async throws {
        let made = try await YapProcess.shell(
            """
            yap init --container \(Self.todo) && yap account create ann --password-stdin \
            && yap token create --container \(Self.todo) --name app --json
            """, in: folder, input: "the password of ann\n")
        let token = try #require(made.output.firstMatch(of: #/"token":"([0-9a-f]{64})"/#)).output.1
        let file = #"""
            {"protocol": {"existingZone": "error"},
             "limits": {"bodyBytesMax": 3000000, "recordBytesMax": 500, "uploadMilliseconds": 1,
                        "privateBytesMax": 600, "rowBytes": 0}}
            """#
        try Data(file.utf8).write(to: URL(filePath: folder.file("yap-data/yap.json")))
        let server = try await ServeProcess(in: folder)
        let signIn = SignInRequest(
            account: "ann", password: "the password of ann", container: Self.todo, apiToken: String(token))
        let signedIn = try await post("\(server.url)/yap/1/sign-in", signIn.json())
        let session = try SignInResponse(json: Array(signedIn.text.utf8)).webAuthToken
        let base = "\(server.url)/database/1/\(Self.todo)/development/private"
        func ask(_ endpoint: String, _ body: String) async throws -> (status: Int, text: String) {
            try await post(
                "\(base)/\(endpoint)?ckAPIToken=\(token)&ckWebAuthToken=\(session)", Array(body.utf8))
        }

        let zone = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"list"}}}]}"#
        #expect(try await !ask("zones/modify", zone).text.contains("EXISTS"))
        #expect(try await ask("zones/modify", zone).text.contains("EXISTS"))
        let spaces = String(repeating: " ", count: 2_500_000)
        let large = try await ask("zones/modify", zone + spaces)
        #expect(large.status == 200 && large.text.contains("EXISTS"), "more than 2 MB: \(large.text)")
        let larger = try await ask("zones/modify", zone + spaces + spaces)
        #expect(larger.status == 400 && larger.text.contains("3000000"), "\(larger.text)")

        func save(_ name: String, bytes: Int) async throws -> String {
            // Bytes have no index entries, which would count too.
            let data = Data(repeating: 1, count: bytes).base64EncodedString()
            return try await ask(
                "records/modify",
                """
                {"operations":[{"operationType":"create","record":{"recordName":"\(name)","recordType":"t",
                "fields":{"data":{"value":"\(data)","type":"BYTES"}}}}]}
                """
            ).text
        }
        #expect(try await save("a", bytes: 600).contains("BAD_REQUEST"))
        #expect(try await !save("a", bytes: 400).contains("serverErrorCode"))
        #expect(try await save("b", bytes: 400).contains("QUOTA_EXCEEDED"))

        let clock = SystemTimeSource()
        let before = clock.nowMilliseconds()
        let upload = try await ask(
            "assets/upload", #"{"tokens":[{"recordName":"f","recordType":"t","fieldName":"file"}]}"#)
        let after = clock.nowMilliseconds()
        let ticket = try #require(upload.text.firstMatch(of: #/"url":"[^"]+\?t=([^"]+)"/#)?.output.1)

        let beside = try await YapProcess.shell(
            "yap record save t c --container \(Self.todo) --account ann --set text=$(printf 'x%.0s' {1..600})",
            in: folder)
        #expect(beside.code == 4 && beside.errors.contains("500"), "\(beside.errors)")
        #expect(try await server.end() == 0)

        // Not by sending the file: on a quick machine that arrives within the millisecond.
        let secret = try assetSecret()
        func isGood(at milliseconds: Int64) throws -> Bool {
            try AssetClaims.checked(
                String(ticket), for: .upload, secret: secret, nowMilliseconds: milliseconds) != nil
        }
        #expect(try isGood(at: before))
        #expect(try !isGood(at: after + 1))
    }

    /// What the server signs the addresses of files with.
    private func assetSecret() throws -> [UInt8] {
        let path = folder.file("yap-data/containers/\(Self.todo)/development.sqlite")
        let store = try SQLiteCloudStore(path: path)
        var wanted = StoreLoad()
        wanted.assets.secrets = ["assets"]
        return try #require(try store.read { try $0.load(wanted).assets.secrets["assets"] })
    }

    @Test func whatIsWrongInTheFileKeepsTheServerFromStarting() async throws {
        _ = try await YapProcess.shell("yap init", in: folder)
        let file = "{\n  \"protocol\": {\n    \"existingZone\": \"maybe\"\n  }\n}\n"
        try Data(file.utf8).write(to: URL(filePath: folder.file("yap-data/yap.json")))
        let ended = try await YapProcess.shell("yap serve --port 0", in: folder)
        let words = #"yap-data/yap.json:3: protocol.existingZone takes "zone" or "error", not "maybe""#
        #expect(ended.code == 1 && ended.errors.contains(words), "\(ended.errors)")
        let line = try await YapProcess.shell(
            "echo '{}' > other.json; yap serve --port 0 --config other.json --set limits.itemsMax=0",
            in: folder)
        #expect(line.errors.contains("limits.itemsMax takes a whole number from 1 to 10000, not 0"))
    }
}
