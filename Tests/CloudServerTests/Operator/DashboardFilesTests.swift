import Foundation
import HTTPServer
import Testing

@testable import CloudServer

@Suite struct DashboardFilesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/DashboardPage").standardized

    @Test func theBinaryHasEachFileOfThePageAsItLiesInTheFolder() throws {
        let files = try DashboardFiles()
        let mark = #/\/dashboard\/files\/[0-9a-f]{16}/#
        let address = try String(#require(files.page.firstMatch(of: mark)).output)
        let found = try #require(FileManager.default.enumerator(atPath: Self.folder.path))
            .compactMap { $0 as? String }
            .filter { ["js", "css", "svg"].contains(($0 as NSString).pathExtension) }
        #expect(found.count > 30)
        for path in found {
            let response = files.response(to: "\(address)/\(path)")
            guard case .bytes(let bytes)? = response?.body else {
                Issue.record("\(path) isn't in the binary: run Scripts/dashboard-files")
                continue
            }
            #expect(try Data(contentsOf: Self.folder.appending(path: path)) == Data(bytes), "\(path)")
        }
        #expect(files.response(to: "\(address)/js/none.js") == nil)
        #expect(files.response(to: "\(address)/../index.html") == nil)
    }

    @Test func theAddressWithoutAPathIsAPageForPeopleAndJSONForPrograms() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let page = try connection.exchange("GET", "/", headers: [("Accept", "text/html,*/*")])
            #expect(page.status == 200 && page.text.contains("Open the dashboard"))
            #expect(!page.text.contains("{"))
            let json = try connection.exchange("GET", "/")
            #expect(json.status == 200 && json.text == #"{"server":"yap"}"#)
        }
        try await withGuardedServer(configure: { $0.dashboard = .off }) { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let page = try connection.exchange("GET", "/", headers: [("Accept", "text/html,*/*")])
            #expect(page.status == 404)
        }
    }

    @Test func everyAddressOfThePageIsThePageUnderAStrictPolicy() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded)
            for path in ["/dashboard", "/dashboard/", "/dashboard/iCloud.com.example.todo/production/zones"] {
                let page = try client.page(path)
                #expect(page.status == 200 && page.text.contains("<!doctype html>"))
                #expect(page.header("Content-Security-Policy") == DashboardFiles.policy)
                #expect(page.header("X-Frame-Options") == "DENY")
                #expect(page.header("Cache-Control") == "no-store")
                #expect(!page.text.contains("{files}"))
            }
            #expect(!DashboardFiles.policy.contains("unsafe"))
            #expect(try client.page("/dashboard/files/0000000000000000/js/main.js").status == 404)
        }
    }
}
