import CloudWire
import Foundation
import HTTPClient
import SQLiteTestSupport
import Testing
import Waiting

/// Who may use which environment, and what a user has in both, of a server as a process.
@Suite struct EnvironmentServedTests {
    private static let todo = "iCloud.com.example.todo"
    private static let saveA = save("a", bytes: 400)
    private let folder: TemporaryFolder
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func yap(_ line: String, input: String = "") async throws -> String {
        let ended = try await YapProcess.shell("yap \(line)", in: folder, input: input)
        #expect(ended.code == 0, "\(line): \(ended.errors)")
        return ended.output
    }

    /// Makes ann's account and an app's token, which is returned.
    private func prepare() async throws -> String {
        _ = try await yap("init --container \(Self.todo)")
        _ = try await yap("account create ann --password-stdin", input: "the password of ann\n")
        let made = try await yap("token create --container \(Self.todo) --name app --json")
        return String(try #require(made.firstMatch(of: #/"token":"([0-9a-f]{64})"/#)).output.1)
    }

    private func post(_ url: String, _ body: [UInt8]) async throws -> HTTPClientResponse {
        try await withCheckedThrowingContinuation { continuation in
            _ = http.send(HTTPClientRequest(method: "POST", url: url, body: body)) {
                continuation.resume(with: $0)
            }
        }
    }

    private func signIn(
        _ server: ServeProcess, _ apiToken: String, _ environment: String
    ) async throws -> HTTPClientResponse {
        let request = SignInRequest(
            account: "ann", password: "the password of ann", container: Self.todo, environment: environment,
            apiToken: apiToken)
        return try await post("\(server.url)/yap/1/sign-in", request.json())
    }

    /// Repeats a request until the response has the status `wanted`: a server applies the changes of a command within a
    /// second.
    private func status(
        _ wanted: Int, _ ask: () async throws -> HTTPClientResponse
    ) async throws -> HTTPClientResponse {
        var response = try await ask()
        try await Polling.until {
            if response.status != wanted { response = try await ask() }
            return response.status == wanted
        }
        return response
    }

    @Test func developmentIsForTheDevelopersWhomTheOperatorNamesAndATokenForItsEnvironment() async throws {
        let apiToken = try await prepare()
        let server = try await ServeProcess(in: folder, ["--development", "developers"])
        let refused = try await signIn(server, apiToken, "development")
        let error = try WireError(json: refused.body)
        #expect(refused.status == 403 && error.serverErrorCode == .accessDenied, "\(error)")
        #expect(error.reason?.contains("developers only") == true)
        #expect(try await signIn(server, apiToken, "production").status == 200)

        #expect(try await yap("account set ann --developer").contains("developer"))
        #expect(try await yap("account list").contains("yes"))
        #expect(try await status(200) { try await signIn(server, apiToken, "development") }.status == 200)
        _ = try await yap("account set ann --no-developer")
        #expect(try await status(403) { try await signIn(server, apiToken, "development") }.status == 403)

        _ = try await yap("token set --container \(Self.todo) --name app --environment development")
        #expect(try await yap("token list").contains("development"))
        let other = try await status(401) { try await signIn(server, apiToken, "production") }
        #expect(try WireError(json: other.body).reason?.contains("for development only") == true)
        #expect(try await server.end() == 0)
    }

    @Test func aServerOnLoopbackIsOpenToAllUnlessItsFileSaysOtherwise() async throws {
        let apiToken = try await prepare()
        let open = try await ServeProcess(in: folder)
        #expect(try await signIn(open, apiToken, "development").status == 200)
        #expect(try await open.end() == 0)
        let file = URL(filePath: folder.file("yap-data/yap.json"))
        try Data(#"{"development": "developers"}"#.utf8).write(to: file)
        let closed = try await ServeProcess(in: folder)
        #expect(try await signIn(closed, apiToken, "development").status == 403)
        #expect(try await closed.end() == 0)
    }

    private static func save(_ name: String, bytes: Int) -> String {
        // Bytes have no index entries, which would count too.
        let data = Data(repeating: 1, count: bytes).base64EncodedString()
        return """
            {"operations":[{"operationType":"create","record":{"recordName":"\(name)","recordType":"t",
            "fields":{"data":{"value":"\(data)","type":"BYTES"}}}}]}
            """
    }

    @Test func oneQuotaHoldsForBothEnvironmentsOverARestart() async throws {
        let apiToken = try await prepare()
        let words = ["--set", "limits.privateBytesMax=600", "--set", "limits.rowBytes=0"]
        func session(_ server: ServeProcess, _ environment: String) async throws -> String {
            try SignInResponse(json: try await signIn(server, apiToken, environment).body).webAuthToken
        }
        func modify(
            _ server: ServeProcess, _ environment: String, _ session: String, _ body: String
        ) async throws -> String {
            let base = "\(server.url)/database/1/\(Self.todo)/\(environment)/private/records/modify"
            let answer = try await post(
                "\(base)?ckAPIToken=\(apiToken)&ckWebAuthToken=\(session)", Array(body.utf8))
            return String(decoding: answer.body, as: UTF8.self)
        }
        let first = try await ServeProcess(in: folder, words)
        let development = try await session(first, "development")
        let production = try await session(first, "production")
        #expect(try await !modify(first, "development", development, Self.saveA).contains("serverErrorCode"))
        _ = try await yap("schema deploy --container \(Self.todo) --yes")
        #expect(try await modify(first, "production", production, Self.saveA).contains("QUOTA_EXCEEDED"))
        #expect(try await first.end() == 0)
        let second = try await ServeProcess(in: folder, words)
        #expect(try await modify(second, "production", production, Self.saveA).contains("QUOTA_EXCEEDED"))
        let delete = #"{"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}}]}"#
        #expect(try await !modify(second, "development", development, delete).contains("serverErrorCode"))
        #expect(try await !modify(second, "production", production, Self.saveA).contains("serverErrorCode"))
        #expect(try await second.end() == 0)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.file("yap-data/containers/\(Self.todo)"))
        #expect(!left.contains { $0.hasSuffix("-wal") }, "no write-ahead log is left: \(left)")
    }
}
