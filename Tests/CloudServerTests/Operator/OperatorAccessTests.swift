import CloudStore
import Foundation
import Testing

@testable import CloudServer

/// Every endpoint of the operator API times every role, over HTTP. `docs/ACCESS.md` shows the same table.
@Suite struct OperatorAccessTests {
    private struct Row {
        let request: String
        let body: String
        /// The statuses without a session, and for look, change and administer.
        let statuses: [Int]
    }

    private static func rows(ada: String) -> [Row] {
        let container = RawDevice.container
        func data(_ endpoint: String, _ body: String, _ statuses: [Int]) -> Row {
            Row(
                request: "POST \(container)/development/private/\(endpoint)?user=\(ada)", body: body,
                statuses: statuses)
        }
        return [
            Row(request: "GET session", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "POST session", body: #"{"link":"none"}"#, statuses: [401, 401, 401, 401]),
            Row(
                request: "POST session/password", body: #"{"password":"short"}"#,
                statuses: [421, 400, 400, 400]),
            Row(request: "GET sessions", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "POST sessions/end", body: #"{"session":"none"}"#, statuses: [421, 404, 404, 404]),
            Row(request: "GET administrators", body: "", statuses: [421, 200, 200, 200]),
            Row(
                request: "POST administrators/add", body: #"{"name":"new","role":"look"}"#,
                statuses: [421, 403, 403, 200]),
            Row(
                request: "POST administrators/link", body: #"{"name":"none"}"#,
                statuses: [421, 403, 403, 404]),
            Row(
                request: "POST administrators/role", body: #"{"name":"none","role":"look"}"#,
                statuses: [421, 403, 403, 404]),
            Row(
                request: "POST administrators/remove", body: #"{"name":"none"}"#,
                statuses: [421, 403, 403, 404]),
            Row(request: "GET audit", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET containers", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET \(container)/accounts", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET \(container)/development/schema", body: "", statuses: [421, 200, 200, 200]),
            data(
                "records/modify",
                #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"Note"}}]}"#,
                [421, 403, 200, 200]),
            data("records/query", #"{"query":{"recordType":"Note"}}"#, [421, 200, 200, 200]),
            data("records/lookup", #"{"records":[{"recordName":"a"}]}"#, [421, 200, 200, 200]),
            data("zones/list", "{}", [421, 200, 200, 200]),
            data("zones/lookup", #"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#, [421, 200, 200, 200]),
            data("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#, [421, 200, 200, 200]),
            data(
                "zones/modify",
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#,
                [421, 403, 200, 200]),
            data("users/caller", "{}", [404, 404, 404, 404]),
            data("assets/upload", "{}", [404, 404, 404, 404]),
            Row(request: "POST session/end", body: "", statuses: [421, 200, 200, 200]),
        ]
    }

    @Test func everyEndpointOfOperatorsAnswersEveryRoleAsTheTableSays() async throws {
        try await withGuardedServer { guarded in
            let clients = try [nil, .look, .change, .administer].map {
                try OperatorClient(guarded, role: $0)
            }
            var lines: [String] = []
            for row in Self.rows(ada: try clients[0].ada) {
                let words = row.request.split(separator: " ").map(String.init)
                let statuses = try clients.map { client in
                    words[0] == "GET"
                        ? try client.get(words[1]).status
                        : try client.post(words[1], row.body.isEmpty ? "{}" : row.body).status
                }
                #expect(statuses == row.statuses, "\(row.request)")
                lines.append(Self.line(row))
            }
            let page = try String(contentsOf: Self.page, encoding: .utf8)
            for line in lines { #expect(page.contains(line), "docs/ACCESS.md lacks: \(line)") }
        }
    }

    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/ACCESS.md")

    private static func line(_ row: Row) -> String {
        let words = row.request.split(separator: " ").map(String.init)
        let path = words[1].split(separator: "?")[0]
            .replacing(RawDevice.container, with: "{container}")
            .replacing("/development/private/", with: "/{environment}/{database}/")
            .replacing("/development/", with: "/{environment}/")
        return "| `\(words[0]) \(path)` | " + row.statuses.map(String.init).joined(separator: " | ") + " |"
    }
}
