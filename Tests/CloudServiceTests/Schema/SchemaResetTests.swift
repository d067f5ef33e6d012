import CloudService
import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import Testing

/// `yap schema reset`: what goes with the data, and what is the operator's.
@Suite struct SchemaResetTests {
    /// What a reset does with each table of a store, and why. A new table must be decided on.
    private static let decisions = [
        "schema": "replaced: by production's",
        "userRoles": "kept: who has which role is the operator's word, as the accounts are",
        "secrets": "kept: addresses for files that were handed out lead where they led",
        "webhooks": "kept: the operator's addresses; what waited for them goes",
        "databases": "data", "zones": "data", "records": "data", "largeFields": "data",
        "recordReferences": "data",
        "recordAssets": "data", "usage": "data", "indexParts": "data", "indexedRecords": "data",
        "indexEntries": "data", "zonePlaces": "data", "clearings": "data",
        "indexWork": "there are no records to index",
        "subscriptions": "they are about types that may be gone", "watches": "they count subscriptions",
        "devices": "a device makes its token anew when it is refused",
        "pushTasks": "of changes that are gone", "pushes": "of changes that are gone",
        "firedChanges": "of changes that are gone", "notifications": "of changes that are gone",
        "notificationFeeds": "of changes that are gone", "webhookDeliveries": "of changes that are gone",
        "answerTotals": "they count answers",
        "answers": "of writes that are gone: what is sent again is done again",
    ]

    @Test func aResetKeepsWhatTheOperatorSetAndNothingThatUsersMade() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        let cloud = TestService(store: store)
        let text = "DEFINE SCHEMA CREATE ROLE staff; RECORD TYPE T (f STRING);"
        try cloud.service.schemaMaintenance.changeSchema { _ in try SchemaLanguage.parse(text) }
        _ = try cloud.service.schemaMaintenance.setRole("staff", ofUser: "_ada", isAssigned: true)
        var changes = StoreChanges()
        changes.notifications.webhooks = [
            WebhookRow(name: "shop", url: "http://127.0.0.1:1/", secret: [1], madeMilliseconds: 0)
        ]
        let made = changes
        try store.write { try $0.apply(made) }
        try fill(cloud)
        let full = try counts(path)
        #expect(Set(full.keys) == Set(Self.decisions.keys))
        // Only what there is can go.
        let temporary: Set = ["indexWork", "recordAssets", "clearings", "zonePlaces"]
        #expect(full.filter { $0.value == 0 && !temporary.contains($0.key) }.keys.sorted() == [])

        let production = try SchemaLanguage.parse("DEFINE SCHEMA CREATE ROLE staff;").complete
        try cloud.service.schemaMaintenance.reset(to: production)
        let left = try counts(path).filter { $0.value > 0 }
        #expect(left == ["schema": 1, "userRoles": 1, "secrets": 1, "webhooks": 1])
        #expect(try cloud.service.schemaMaintenance.currentSchema() == production)
        #expect(try cloud.service.schemaMaintenance.userRoles().map(\.user) == ["_ada"])
        let webhook = try store.read { try $0.notificationReader.webhooks() }
        #expect(webhook.map(\.waitingCount) == [0])
        #expect(try StoreAudit.findings(path: path) == [])
        // The server goes on with it, and the webhook is told of what comes.
        try fill(cloud)
        #expect(try cloud.service.webhooks.due(requestsMax: 8).requests.count == 1)
        #expect(try StoreAudit.findings(path: path) == [])
    }

    /// Something in every table.
    private func fill(_ cloud: TestService) throws {
        try cloud.zones(.create)
        try cloud.modify([
            operation(.create, "a", ["title": text("x")]),
            operation(.create, "large", ["body": text(String(repeating: "x", count: 3_000))]),
            operation(.create, "b", ["target": reference("a", .deleteSelf)]),
        ])
        _ = try cloud.ask(
            "assets/upload", AssetsUploadRequest(tokens: [.init(fieldName: "file")]),
            as: AssetsUploadResponse.self)
        try cloud.watch()
        _ = try cloud.device("laptop")
        try cloud.change([operation(.create, "told")], from: "phone")
        var named = cloud.request(
            "records/modify",
            try RecordsModifyRequest(operations: [operation(.create, "fired")], zoneID: TestService.zone)
                .json(extras: true))
        named.headers.append((WireHeader.operation, "name"))
        #expect(cloud.service.respond(to: named).status == 200)
        try cloud.subscribe()
        try cloud.save("tasked", from: "phone", prepares: false)
    }

    private func counts(_ path: String) throws -> [String: Int64] {
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        var names: [String] = []
        try connection.withStatement("SELECT name FROM sqlite_schema WHERE type = 'table'") { statement in
            while try statement.step() { names.append(statement.text(at: 0)) }
        }
        var counts: [String: Int64] = [:]
        for name in names where !name.hasPrefix("sqlite_") {
            counts[name] = try connection.withStatement("SELECT count(*) FROM \(name)") {
                try $0.step() ? $0.int64(at: 0) : 0
            }
        }
        return counts
    }
}
