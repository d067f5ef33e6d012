import CloudService
import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import Testing

/// The recount that other tests rely on sees what is wrong.
@Suite struct AuditTests {
    /// Something that must never happen to a file.
    static let damages = [
        "DELETE FROM recordReferences WHERE kind = 2",
        "INSERT INTO recordReferences VALUES (2, '_ada', 'todos', 'a', 'd', 1)",
        "UPDATE usage SET records = records + 1 WHERE scope = 2",
        "UPDATE usage SET recordBytes = recordBytes - 1 WHERE user = ''",
        "UPDATE usage SET indexBytes = indexBytes - 1 WHERE user = ''",
        "UPDATE zones SET indexBytes = indexBytes + 1",
        "UPDATE records SET indexBytes = indexBytes + 1 WHERE name = 'b'",
        "DELETE FROM usage",
        "INSERT INTO recordAssets VALUES (2, '_ada', 'todos', 'a', x'00', 3)",
        "UPDATE zones SET counter = counter - 1",
        "UPDATE zones SET tombstoneFloor = counter",
        "UPDATE databases SET counter = 0 WHERE scope = 2",
        "UPDATE records SET counter = 1 WHERE zone = 'todos' AND isDeleted = 0",
        "UPDATE records SET counter = 0 WHERE zone = 'todos'",
        "UPDATE records SET fields = x'01020304' WHERE name = 'a'",
        "DELETE FROM records WHERE name = 'a'",
        "DELETE FROM zones",
        "UPDATE databases SET subscriptions = 2 WHERE scope = 2",
        "UPDATE watches SET count = count + 1",
        "UPDATE watches SET lastNumber = 0",
        "DELETE FROM subscriptions WHERE type IS NOT NULL",
        "DELETE FROM devices",
        "DELETE FROM schema",
        "UPDATE records SET type = 'other' WHERE name = 'b'",
        "DELETE FROM indexedRecords WHERE name = 'a'",
        "DELETE FROM indexEntries WHERE name = 'a'",
        "DELETE FROM indexWork; DELETE FROM indexEntries WHERE kind = 2; UPDATE indexedRecords SET entries = x''",
        "INSERT INTO indexedRecords SELECT part, 'nobody', entries FROM indexedRecords LIMIT 1",
        "INSERT INTO indexEntries SELECT part, field, kind, value, 'nobody' FROM indexEntries LIMIT 1",
        "UPDATE indexEntries SET value = x'0102' WHERE field = 'n'",
        "UPDATE indexParts SET type = 'other'",
    ]

    @Test(arguments: damages) func whatDoesNotFitIsFound(_ sql: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.fill(path)
        #expect(try StoreAudit.findings(path: path) == [])
        let connection = try Connection(path: path)
        try connection.execute(sql)
        #expect(try StoreAudit.findings(path: path) != [])
    }

    /// An index's rows that agree with each other, and not with the records.
    enum IndexDamage: CaseIterable {
        case rowsOfNobody, noRows, otherBytes
    }

    @Test(arguments: IndexDamage.allCases) func indexRowsThatDisagreeWithRecordsAreFound(
        _ damage: IndexDamage
    )
        throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.fill(path)
        #expect(try Self.doctorFindings(path) == 0)
        let store = try SQLiteCloudStore(path: path)
        let zone = ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos")
        let key = RecordKey(zone: zone, recordName: damage == .rowsOfNobody ? "nobody" : "a")
        var changes = StoreChanges()
        changes.indexes = [RecordIndexRow(key: key, recordType: "todo", entries: [])]
        if damage != .noRows {
            let value: [UInt8] = [1, 0x80, 0, 0, 0, 0, 0, 0, 2]
            let entries = try store.read {
                try $0.entries(of: RecordKey(zone: zone, recordName: "a"), recordType: "todo") ?? []
            }
            #expect(entries.contains { $0.field == "n" && $0.kind == .order })
            changes.indexes[0].entries = entries.map { entry in
                entry.field == "n" ? StoredIndexEntry(field: "n", kind: entry.kind, value: value) : entry
            }
        }
        try store.write { try $0.apply(changes) }
        store.close()
        // Without its entries a record counts less than its user and its zone do.
        #expect(try StoreAudit.findings(path: path).count == (damage == .noRows ? 3 : 1))
        #expect(try Self.doctorFindings(path) == (damage == .noRows ? 2 : 1))
    }

    /// How much `yap doctor` finds in a store.
    private static func doctorFindings(_ path: String) throws -> Int {
        let file = try #require(try StoreFile(path: path))
        return try file.findings().count + file.read { try IndexDemand.unmetCount(in: $0) }
    }

    private static func fill(_ path: String) throws {
        let cloud = TestService(store: try SQLiteCloudStore(path: path))
        try cloud.zones(.create)
        try cloud.modify([
            operation(.create, "a", ["n": Field(.int64(1))]),
            operation(.create, "b", ["target": reference("a", .validate)]),
            operation(.create, "c", ["target": reference("a", .deleteSelf)], parent: "b"),
            operation(.create, "d"),
        ])
        try cloud.modify([operation(.delete, "d")])
        try cloud.modify([operation(.create, "p", ["n": Field(.int64(1))])], zone: nil, database: "public")
        let subscription = #"{"subscriptionID":"s","subscriptionType":"database"}"#
        let body = #"{"operations":[{"operationType":"create","subscription":\#(subscription)}]}"#
        _ = cloud.service.respond(to: cloud.request("subscriptions/modify", Array(body.utf8)))
        try cloud.watch()
        var request = cloud.request("", Array(#"{"apnsEnvironment":"development","clientId":"phone"}"#.utf8))
        request.path = "/device/1/\(TestService.container.identifier)/development/tokens/create"
        _ = cloud.service.respond(to: request)
        try cloud.modify([operation(.create, "e")])
        try cloud.service.preparePushes()
    }
}
