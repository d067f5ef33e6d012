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
            Row(request: "GET live", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET live/hours", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET requests", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET requests/none", body: "", statuses: [421, 404, 404, 404]),
            Row(request: "GET \(container)/development/sync", body: "", statuses: [421, 200, 200, 200]),
            Row(request: "GET \(container)/development/usage", body: "", statuses: [421, 200, 200, 200]),
            Row(
                request: "GET \(container)/development/usage/zones?user=\(ada)", body: "",
                statuses: [421, 200, 200, 200]),
            Row(request: "GET \(container)/development/slow", body: "", statuses: [421, 200, 200, 200]),
        ] + accountRows + keyRows(container) + schemaRows(container) + [
            data(
                "records/modify",
                #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"a","recordType":"Note"}}]}"#,
                [421, 403, 200, 200]),
            data("records/query", #"{"query":{"recordType":"Note"}}"#, [421, 200, 200, 200]),
            data("records/lookup", #"{"records":[{"recordName":"a"}]}"#, [421, 200, 200, 200]),
            data("zones/list", "{}", [421, 200, 200, 200]),
            data("subscriptions/list", "{}", [421, 200, 200, 200]),
            data("zones/lookup", #"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#, [421, 200, 200, 200]),
            data("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#, [421, 200, 200, 200]),
            data(
                "zones/modify",
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#,
                [421, 403, 200, 200]),
            data("users/caller", "{}", [404, 404, 404, 404]),
            data("assets/upload", #"{"tokens":[{"fieldName":"photo"}]}"#, [421, 403, 200, 200]),
            Row(request: "POST session/end", body: "", statuses: [421, 200, 200, 200]),
        ]
    }

    private static let forAll = [421, 200, 200, 200]
    /// Requests of `administer` that name what isn't there.
    private static let ofNobody = [421, 403, 403, 404]

    private static let accountRows = [
        Row(request: "GET accounts", body: "", statuses: forAll),
        Row(request: "GET accounts/ada", body: "", statuses: forAll),
        Row(
            request: "POST accounts/add", body: #"{"name":"new","password":"a long sentence"}"#,
            statuses: [421, 403, 403, 200]),
        Row(request: "POST accounts/change", body: #"{"name":"none"}"#, statuses: ofNobody),
        Row(request: "POST accounts/password", body: #"{"name":"none"}"#, statuses: ofNobody),
        Row(request: "POST accounts/disable", body: #"{"name":"none"}"#, statuses: ofNobody),
        Row(request: "POST accounts/enable", body: #"{"name":"none"}"#, statuses: ofNobody),
        Row(request: "POST accounts/delete", body: #"{"name":"none"}"#, statuses: ofNobody),
        Row(request: "POST accounts/sessions/end", body: #"{"name":"none"}"#, statuses: ofNobody),
    ]

    private static func keyRows(_ container: String) -> [Row] {
        let key = #"{"name":"none","environment":"production"}"#
        return [
            Row(
                request: "POST containers/add", body: #"{"identifier":"iCloud.com.example.new"}"#,
                statuses: [421, 403, 403, 200]),
            Row(request: "GET \(container)/tokens", body: "", statuses: forAll),
            Row(
                request: "POST \(container)/tokens/add", body: #"{"name":"new","environment":"both"}"#,
                statuses: [421, 403, 403, 200]),
            Row(request: "POST \(container)/tokens/change", body: key, statuses: ofNobody),
            Row(request: "POST \(container)/tokens/revoke", body: key, statuses: ofNobody),
            Row(request: "GET \(container)/keys", body: "", statuses: forAll),
            Row(
                request: "POST \(container)/keys/add",
                body: #"{"name":"new","environment":"production","publicKey":"none"}"#,
                statuses: [421, 403, 403, 400]),
            Row(request: "POST \(container)/keys/revoke", body: key, statuses: ofNobody),
            Row(request: "GET \(container)/development/webhooks", body: "", statuses: forAll),
            Row(request: "POST \(container)/development/webhooks/remove", body: key, statuses: ofNobody),
        ]
    }

    private static func schemaRows(_ container: String) -> [Row] {
        let schema = "\(container)/development/schema"
        let text = #"{"text":"DEFINE SCHEMA"}"#
        return [
            Row(request: "GET \(schema)", body: "", statuses: forAll),
            Row(request: "GET \(schema)/indexes", body: "", statuses: forAll),
            Row(request: "POST \(schema)/check", body: text, statuses: forAll),
            Row(
                request: "POST \(schema)/change", body: #"{"operations":[]}"#, statuses: [421, 403, 200, 200]),
            Row(request: "POST \(schema)/import", body: text, statuses: [421, 403, 403, 200]),
            Row(
                request: "POST \(schema)/reset", body: #"{"container":"none"}"#,
                statuses: [421, 403, 403, 400]),
            Row(request: "GET \(container)/schema/difference", body: "", statuses: forAll),
            Row(
                request: "POST \(container)/schema/deploy", body: #"{"plan":"none"}"#,
                statuses: [421, 403, 403, 409]),
            Row(request: "GET \(container)/development/counts", body: "", statuses: forAll),
            Row(request: "GET \(container)/development/backlog", body: "", statuses: forAll),
            Row(
                request: "GET \(container)/development/devices?user=_" + String(repeating: "0", count: 32),
                body: "", statuses: forAll),
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
        var path = words[1].split(separator: "?")[0]
            .replacing("accounts/ada", with: "accounts/{name}")
            .replacing(RawDevice.container, with: "{container}")
            .replacing("/development/private/", with: "/{environment}/{database}/")
        if !OperatorSchema.Request.ofDevelopment.keys.contains(where: path.hasSuffix) {
            path = path.replacing("/development/", with: "/{environment}/")
        }
        return "| `\(words[0]) \(path)` | " + row.statuses.map(String.init).joined(separator: " | ") + " |"
    }
}
