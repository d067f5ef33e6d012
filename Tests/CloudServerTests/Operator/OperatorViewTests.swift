import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer
@testable import CloudService

/// Queries of operators that answer with less than whole records.
@Suite struct OperatorViewTests {
    /// Records with a text of so many characters, by a request of 200 at most.
    private static func save(_ numbers: Range<Int>, text: String, in client: OperatorClient) throws {
        let operations = numbers.map { number in
            #"{"operationType":"create","record":{"recordName":"n\#(number)","recordType":"Note","fields":{"#
                + #""rank":{"value":\#(number % 7)},"text":{"value":"\#(text)"}}}}"#
        }
        let response = try client.post(
            client.data("public", "records/modify"),
            #"{"operations":[\#(operations.joined(separator: ","))]}"#)
        try #require(response.status == 200, "\(response.text)")
    }

    private static func query(_ filter: String = "") -> String {
        #"{"query":{"recordType":"Note"\#(filter)}}"#
    }

    private static func count(_ client: OperatorClient, _ body: String) throws -> JSONValue {
        let response = try client.post(client.data("public", "records/query") + "?count=true", body)
        try #require(response.status == 200, "\(response.text)")
        return try JSONValue(json: response.body)
    }

    @Test func aQueryIsCountedOverAllItsPages() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            for first in stride(from: 0, to: 900, by: 150) {
                try Self.save(first..<first + 150, text: "hello", in: client)
            }
            let all = try Self.count(client, Self.query())
            #expect(all["count"].number == 900 && all["isCapped"] == .bool(false))
            let some = try Self.count(
                client,
                Self.query(
                    #","filterBy":[{"fieldName":"rank","comparator":"EQUALS","fieldValue":{"value":3}}],"#
                        + #""sortBy":[{"fieldName":"rank"}]"#))
            #expect(some["count"].number == 129)
        }
    }

    @Test func countingStopsWhereARequestsRowsEnd() async throws {
        try await withGuardedServer(configure: { $0.limits.queryRowsExaminedMax = 500 }) { guarded in
            let client = try OperatorClient(guarded, role: .change)
            for first in stride(from: 0, to: 900, by: 150) {
                try Self.save(first..<first + 150, text: "hello", in: client)
            }
            let all = try Self.count(client, Self.query())
            #expect(all["isCapped"] == .bool(true) && all["stoppedBy"].text == "rows")
            #expect((400...500).contains(all["count"].number ?? 0), "\(all)")
        }
    }

    @Test func aCountOfLargeRecordsContinuesAfterAPage() async throws {
        try await withGuardedServer(configure: { $0.limits.answerBytesMax = 64 << 10 }) { guarded in
            let client = try OperatorClient(guarded, role: .change)
            for first in stride(from: 0, to: 300, by: 50) {
                try Self.save(first..<first + 50, text: String(repeating: "a", count: 1_200), in: client)
            }
            let all = try Self.count(client, Self.query())
            #expect(all["count"].number == 300 && all["isCapped"] == .bool(false))
        }
    }

    @Test func aCountAsAUserCountsWhatTheUserMaySee() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            try Self.save(0..<3, text: "hello", in: client)
            let ada = try client.ada
            let response = try client.post(
                client.data("private", "records/query", user: ada) + "&count=true", Self.query())
            #expect(try JSONValue(json: response.body)["count"].number == 0)
            let unknown = try client.post(
                client.data("public", "records/query") + "?count=true", #"{"query":{"recordType":"None"}}"#)
            #expect(unknown.status == 404)
        }
    }

    @Test func longValuesAreCutAtACharacterAndSayHowLongTheyAre() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            // Two bytes each, so that 255 is in the middle of one.
            try Self.save(0..<2, text: String(repeating: "é", count: 5_000), in: client)
            let listed = (0..<100).map { "\"tag \($0)\"" }.joined(separator: ",")
            let body =
                #"{"operations":[{"operationType":"create","record":{"recordName":"list","#
                + #""recordType":"Note","fields":{"tags":{"value":[\#(listed)]}}}}]}"#
            #expect(try client.post(client.data("public", "records/modify"), body).status == 200)
            let path = client.data("public", "records/query") + "?valueBytesMax=255"
            let response = try client.post(path, Self.query())
            try #require(response.status == 200, "\(response.text)")
            #expect(response.body.count < 6_000)
            let records = try JSONValue(json: response.body)["records"].array
            try #require(records.count == 3)
            let list = try #require(records.first { $0["recordName"].text == "list" })
            #expect(list["cutFields"]["tags"]["count"].number == 100)
            let tags = list["fields"]["tags"]["value"].array
            #expect(tags.count < 30 && tags.first?.text == "tag 0")
            let note = try #require(records.first { $0["recordName"].text == "n0" })
            #expect(note["cutFields"]["text"]["bytes"].number == 10_000)
            #expect(note["fields"]["text"]["value"].text == String(repeating: "é", count: 127))
            #expect(note["fields"]["rank"]["value"].number == 0 && note["cutFields"]["rank"] == .null)
            let whole = try client.post(client.data("public", "records/query"), Self.query())
            #expect(whole.body.count > 20_000 && !whole.text.contains("cutFields"))
            for wrong in ["0", "x", "65537", "-1"] {
                let refused = try client.post(
                    client.data("public", "records/query") + "?valueBytesMax=\(wrong)", Self.query())
                #expect(refused.status == 400, "\(wrong)")
            }
        }
    }

    @Test func theItemsOfOperatorsMeanNothingToApps() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            try Self.save(0..<1, text: String(repeating: "a", count: 1_000), in: client)
            let app = try RawConnection(port: guarded.server.port)
            let target = guarded.target(
                "public/records/query", apiToken: guarded.openToken, session: guarded.session)
            let response = try app.exchange(
                "POST", target + "&count=true&valueBytesMax=10", body: Array(Self.query().utf8))
            #expect(response.status == 200 && response.text.contains(String(repeating: "a", count: 1_000)))
        }
    }

    @Test func theBacklogCountsWhatWaits() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteCloudStore(path: folder.file("store.sqlite"))
        defer { store.close() }
        let service = CloudService(
            store: store, clock: ManualTimeSource(), random: SeededRandomSource(seed: 1), users: [:])
        let before = try store.read { try service.messages.backlogMessage($0) }
        #expect(before["pushesWaiting"]["count"].number == 0 && before["webhooksWaiting"].number == 0)
        #expect(before["indexesBeingBuilt"].array.isEmpty)
        var changes = StoreChanges()
        changes.pushes = (0..<3).map { number in
            PushRow(
                key: PushKey(
                    device: DeviceKey(user: "_ada", device: "phone"), database: .publicDatabase,
                    subscriptionID: "s\(number)"), notificationID: "n\(number)", atMilliseconds: 1)
        }
        var webhook = WebhookRow(
            name: "hook", url: "https://example.com", secret: [1], scope: nil, recordType: nil,
            madeMilliseconds: 1)
        webhook.waitingCount = 5
        changes.notifications.webhooks = [webhook]
        // Work of version 4, of which two pieces are left, from the first record on.
        var work = BinaryWriter()
        work.byte(4)
        work.unsigned(2)
        for (field, kind) in [("rank", IndexPiece.Kind.values), ("text", .words)] {
            work.text(field)
            work.byte(kind.rawValue)
        }
        work.byte(0)
        changes.indexWork = [IndexWorkRow(recordType: "Note", content: work.bytes)]
        try store.write { try $0.apply(changes) }
        let after = try store.read { try service.messages.backlogMessage($0) }
        #expect(after["pushesWaiting"]["count"].number == 3 && after["webhooksWaiting"].number == 5)
        #expect(
            after["indexesBeingBuilt"].array.map { "\($0["field"].text ?? "") \($0["kind"].text ?? "")" } == [
                "rank QUERYABLE", "text SEARCHABLE",
            ])
        // A store in memory doesn't know how many pushes wait, and doesn't say that none do.
        let memory = MemoryCloudStore()
        let ofTests = CloudService(
            store: memory, clock: ManualTimeSource(), random: SeededRandomSource(seed: 1), users: [:])
        #expect(try memory.read { try ofTests.messages.backlogMessage($0) }["pushesWaiting"] == .null)
    }
}
