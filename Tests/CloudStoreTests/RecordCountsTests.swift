import CloudStore
import SQLiteTestSupport
import Testing

/// What a store counts for the operator.
@Suite struct RecordCountsTests {
    private static let database = StoredDatabaseKey.privateDatabase(of: "ann")

    @Test func countingEndsAtTheBoundAndSaysSo() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteCloudStore(path: folder.file("store.sqlite"))
        defer { store.close() }
        try store.write { writer in
            var changes = StoreChanges()
            for (zone, type, count) in [("a", "Note", 3), ("a", "Tag", 2), ("b", "Note", 4)] {
                for number in 0..<count {
                    let key = RecordKey(
                        zone: ZoneKey(database: Self.database, zoneName: zone), recordName: "\(type)\(number)"
                    )
                    changes.indexes.append(
                        RecordIndexRow(
                            key: key, recordType: type,
                            entries: [StoredIndexEntry(field: "text", kind: .word, value: [UInt8(number)])]))
                }
            }
            try writer.apply(changes)
        }
        try store.read { reader in
            let reader = try #require(reader as? any RecordCountsReader)
            func counts(_ rowsMax: Int) throws -> [String] {
                try reader.countRecords(in: Self.database, rowsMax: rowsMax).map {
                    "\($0.zoneName) \($0.recordType) \($0.count)\($0.isCapped ? "+" : "")"
                }
            }
            #expect(try counts(100) == ["a Note 3", "a Tag 2", "b Note 4"])
            #expect(try counts(9) == ["a Note 3", "a Tag 2", "b Note 4"])
            #expect(try counts(4) == ["a Note 3", "a Tag 1+", "b Note 0+"])
            #expect(try reader.countRecords(in: .publicDatabase, rowsMax: 9).isEmpty)
            #expect(try reader.countRecords(ofType: "Note", rowsMax: 100).count == 7)
            #expect(try reader.countRecords(ofType: "Note", rowsMax: 5).count == 5)
            #expect(
                try reader.countEntries(ofType: "Note", field: "text", kind: .word, rowsMax: 100).count == 7)
            #expect(
                try reader.countEntries(ofType: "Note", field: "text", kind: .order, rowsMax: 100).count == 0)
            #expect(
                try reader.countEntries(ofType: "Note", field: "text", kind: .word, rowsMax: 2).count == 2)
        }
    }
}
