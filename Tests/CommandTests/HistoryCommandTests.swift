import CloudWire
import Foundation
import HTTPClient
import SQLiteTestSupport
import Testing

@testable import YapCommand

/// `yap requests` and `yap sync status` on what a server has noted.
@Suite struct HistoryCommandTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func done(_ line: String, code: Int32 = 0) async throws -> YapProcess.Ended {
        try await YapProcess.done(line, code: code, in: folder)
    }

    private func json(_ line: String) async throws -> JSONValue {
        try JSONValue(json: Array(try await done(line + " --json").output.utf8))
    }

    /// A device of Ann's that makes a zone and a record, and is refused once.
    private func sync() async throws {
        try await done("yap init --container \(Self.todo)")
        try await done("printf 'the password of ann' | yap account create ann --password-stdin")
        let made = try await json("yap token create --container \(Self.todo) --name app")
        let apiToken = try #require(made["token"].text)
        let server = try await ServeProcess(in: folder)
        let request = SignInRequest(
            account: "ann", password: "the password of ann", container: Self.todo, apiToken: apiToken)
        let answer = try await http.post("\(server.url)/yap/1/sign-in", request.json())
        let token = try SignInResponse(json: answer.body).webAuthToken
        let escaped = try #require(token.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        func ask(_ endpoint: String, _ body: String) async throws -> Int {
            let query = "ckAPIToken=\(apiToken)&ckWebAuthToken=\(escaped)"
            let path = "/database/1/\(Self.todo)/development/private/\(endpoint)"
            return try await http.post(
                "\(server.url)\(path)?\(query)", Array(body.utf8), headers: [("User-Agent", "Notes/1.0")]
            ).status
        }
        let zone = #"{"zoneID":{"zoneName":"Work"}}"#
        #expect(
            try await ask("zones/modify", #"{"operations":[{"operationType":"create","zone":\#(zone)}]}"#)
                == 200)
        let record = #"{"recordName":"a","recordType":"Note","fields":{"text":{"value":"hello"}}}"#
        let save =
            #"{"operations":[{"operationType":"create","record":\#(record)}],"zoneID":{"zoneName":"Work"}}"#
        for _ in 0..<2 { #expect(try await ask("records/modify", save) == 200) }
        #expect(try await server.end() == 0)
    }

    @Test func theRequestsOfARecordAndOfATimeAreFoundByCommand() async throws {
        try await sync()
        let ofRecord = try await json("yap requests --record a --database private --zone Work")["requests"]
            .elements
        #expect(ofRecord.map { $0["operation"].text } == ["records/modify", "records/modify"])
        #expect(ofRecord.first?["recordErrors"]["CONFLICT"] == .integer(1))
        #expect(try await json("yap requests --record b")["requests"].elements.isEmpty)
        #expect(try await json("yap requests --from 2001-01-01")["requests"].elements.count == 4)
        #expect(try await json("yap requests --to 2001-01-01")["requests"].elements.isEmpty)
        #expect(try await json("yap requests --administrator '*'")["requests"].elements.isEmpty)
        let wrong = try await done("yap requests --from yesterday", code: 2)
        #expect(wrong.errors.contains("2026-11-25"), "\(wrong.errors)")
        #expect(!(try await done("yap requests").output.contains("hello")))
    }

    @Test func theStateOfEachDeviceIsShownByCommand() async throws {
        #expect(
            try await done("yap init --container \(Self.todo) && yap sync status --container \(Self.todo)")
                .errors.contains("there is no request history"))
        try await sync()
        let users = try await json("yap sync status --container \(Self.todo)")["users"].elements
        #expect(users.map { $0["account"].text } == ["ann"])
        let status = "yap sync status --container \(Self.todo) --user ann"
        let devices = try await json(status)["devices"].elements
        #expect(devices.count == 1 && devices[0]["client"].text == "Notes/1.0")
        #expect(devices[0]["zones"].elements.first?["state"].text == "never fetched")
        let shown = try await done(status).output
        #expect(shown.contains("last error CONFLICT at 2"), "\(shown)")
        #expect(shown.contains(/Work +never fetched +1 +- +2/), "\(shown)")
        let table = try await done("yap sync status --container \(Self.todo)").output
        #expect(table.contains(/ann +2\d\d\d-.* +1/), "\(table)")
    }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
