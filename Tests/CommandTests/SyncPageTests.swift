import CloudKit
import CloudKitTesting
import Foundation
import HTTPClient
import SQLite
import SQLiteTestSupport
import System
import Testing
import Yap
import YapCloudKit

@testable import YapCommand

/// The page of a device's file, beside the app that has the file open.
@Suite struct SyncPageTests {
    struct Todo: CloudModel, Equatable {
        var title = ""
        static let recordType = "todo"
        static let fields = CloudFields<Todo> { $0.field(\.title) }
    }

    /// An app's device, whose database stays open.
    private final class App {
        let database: YapDatabase
        let sync: CloudSync

        init(_ path: String, _ cloud: TestCloud) throws {
            database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            sync = try CloudSync(
                database, container: cloud.device(user: "ada").container,
                models: [.model(Todo.self, collection: "todos")], zone: "todos",
                scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
                random: SeededRandomSource(seed: 1))
        }

        func set(_ title: String, _ key: String) throws {
            try database.newConnection().blocking.readWrite {
                try $0.setObject(Todo(title: title), forKey: key, inCollection: "todos")
            }
        }
    }

    private let folder: TemporaryFolder
    private let cloud = TestCloud()
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("phone.yap") }

    private func withPage(_ body: (DevicePage) async throws -> Void) async throws {
        let page = try DevicePage(SyncFile(path: path, name: nil))
        try page.start(port: 0)
        do {
            try await body(page)
        } catch {
            page.stop()
            throw error
        }
        page.stop()
    }

    private func secret(_ page: DevicePage) -> (name: String, value: String) {
        ("Authorization", "Bearer \(page.url.split(separator: "#").last ?? "")")
    }

    private func get(
        _ page: DevicePage, _ target: String, _ headers: [(name: String, value: String)],
        method: String = "GET"
    ) async throws -> (status: Int, text: String, head: HTTPClientResponse) {
        let request = HTTPClientRequest(
            method: method, url: "http://127.0.0.1:\(page.port)\(target)", headers: headers)
        let response = try await withCheckedThrowingContinuation { continuation in
            _ = http.send(request) { continuation.resume(with: $0) }
        }
        return (response.status, String(decoding: response.body, as: UTF8.self), response)
    }

    private func state(_ page: DevicePage, _ query: String = "") async throws -> [String: Any] {
        let answer = try await get(page, DevicePage.statePath + query, [secret(page)])
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
    }

    private func database(_ state: [String: Any]) throws -> [String: Any] {
        let sync = try #require((state["syncs"] as? [[String: Any]])?.first)
        let account = try #require((sync["accounts"] as? [[String: Any]])?.first)
        return try #require((account["databases"] as? [[String: Any]])?.first)
    }

    @Test func onlyTheSecretGivesAccessToTheFile() async throws {
        let app = try App(path, cloud)
        try app.set("a secret title", "1")
        try await withPage { page in
            for headers in [[], [("Authorization", "Bearer \(String(repeating: "0", count: 64))")]] {
                let answer = try await get(page, DevicePage.statePath, headers)
                #expect(answer.status == 421 && !answer.text.contains("secret title"))
                #expect(answer.text.contains("AUTHENTICATION_REQUIRED"))
            }
            let query = "?secret=\(page.url.split(separator: "#").last ?? "")"
            #expect(try await get(page, DevicePage.statePath + query, []).status == 421)
            let answer = try await get(page, DevicePage.statePath, [secret(page)])
            #expect(answer.status == 200 && answer.text.contains("a secret title"))
            #expect(answer.head.header("Cache-Control") == "no-store")
        }
        try await app.database.close()
    }

    @Test func aNameThatAnybodyCanLeadToThePageIsRefused() async throws {
        let app = try App(path, cloud)
        try app.set("Milk", "1")
        try await withPage { page in
            for target in ["/", DevicePage.statePath] {
                let foreign = try await get(page, target, [secret(page), ("Host", "example.com")])
                #expect(foreign.status == 400, "\(target)")
                let local = try await get(page, target, [secret(page), ("Host", "localhost:\(page.port)")])
                #expect(local.status == 200, "\(target)")
            }
        }
        try await app.database.close()
    }

    @Test func thePageHasTheDashboardsPolicyAndItsFiles() async throws {
        try await withPage { page in
            let answer = try await get(page, "/", [])
            #expect(answer.status == 200)
            let policy = try #require(answer.head.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'"))
            #expect(answer.head.header("X-Frame-Options") == "DENY")
            let script = try #require(
                answer.text.firstMatch(of: #/\/dashboard\/files\/[0-9a-f]+\/js\/device\.js/#))
            #expect(try await get(page, String(script.output), []).status == 200)
            #expect(try await get(page, "/operator/1/session", [secret(page)]).status == 404)
        }
    }

    @Test func nothingButReadingIsAnswered() async throws {
        let app = try App(path, cloud)
        try await withPage { page in
            for method in ["POST", "PUT", "DELETE"] {
                let headers = [secret(page), (name: "Content-Type", value: "application/json")]
                let answer = try await get(page, DevicePage.statePath, headers, method: method)
                #expect((400..<500).contains(answer.status), "\(method)")
            }
        }
        try await app.database.close()
    }

    @Test func theFileIsReadWhileTheAppWritesAndStaysAsItIs() async throws {
        let app = try App(path, cloud)
        app.sync.syncNowInline()
        try await withPage { page in
            var version: String?
            for number in 1...5 {
                try app.set("Milk \(number)", "1")
                let state = try await state(page, version.map { "?after=\($0)" } ?? "")
                let set = try #require(
                    (try database(state)["changeSets"] as? [[String: Any]])?.last, "\(state)")
                let change = try #require((set["changes"] as? [[String: Any]])?.first)
                let title = try #require((change["values"] as? [[String: Any]])?.first)
                #expect(title["key"] as? String == "title" && title["after"] as? String == "Milk \(number)")
                version = state["version"] as? String
            }
            // What the caller has already isn't sent again.
            let same = try await state(page, "?after=\(version ?? "")")
            #expect(same.keys.sorted() == ["version"])
        }
        try await app.database.close()
        let before = try Data(contentsOf: URL(filePath: path))
        try await withPage { page in _ = try await state(page) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test func longValuesAreCutWithTheirLengthAndListsHaveAnEnd() async throws {
        let app = try App(path, cloud)
        try app.set(String(repeating: "x", count: 100_000), "1")
        for number in 2...30 { try app.set("Milk", "\(number)") }
        try await withPage { page in
            let found = try database(try await state(page, "?limit=2"))
            #expect((found["changeSets"] as? [Any])?.count == 2)
            #expect((found["pending"] as? [String: Any])?["changeSets"] as? Int == 30)
            let answer = try await get(page, DevicePage.statePath + "?limit=1000000", [secret(page)])
            #expect(answer.text.contains("xxx… (100000 bytes)") && answer.text.utf8.count < 100_000)
        }
        try await app.database.close()
    }

    @Test func aFileThatIsDamagedOrMissingIsSaidInWords() async throws {
        try await withPage { page in
            let absent = try await get(page, DevicePage.statePath, [secret(page)])
            #expect(absent.status == 404 && absent.text.contains("is not there"))
            try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: path))
            let damaged = try await get(page, DevicePage.statePath, [secret(page)])
            #expect(damaged.status == 500 && damaged.text.contains("is no database"))
        }
    }

    @Test func theCommandPrintsTheAddressAndEndsWhenItIsAsked() async throws {
        let app = try App(path, cloud)
        try app.set("Milk", "1")
        let line = """
            mkfifo address
            yap sync inspect phone.yap --open > address 2> errors & page=$!
            read url < address
            curl -s --max-time 20 "${url%%#*}" | grep -c device.js
            kill -INT $page; wait $page; echo "ended $?"; echo $url
            """
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.output.hasPrefix("1\nended 0\nhttp://127.0.0.1:"), "\(ended)")
        let wrong = try await YapProcess.run(
            ["sync", "inspect", "phone.yap", "--port", "1"], in: folder)
        #expect(wrong.code == 2 && wrong.errors.contains("--port needs --open"))
        let absent = try await YapProcess.run(["sync", "inspect", "absent", "--open"], in: folder)
        #expect(absent.code == 3 && absent.errors.contains("is not there"))
        try await app.database.close()
    }
}
