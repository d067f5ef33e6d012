import SQLite
import SQLiteTestSupport
import Testing

@testable import CloudStore

/// Fields of many bytes, which stand beside the records and not among them.
@Suite struct LargeFieldsTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private static let large = [UInt8](repeating: 7, count: 1_000_000)

    private func largeRowsCount() throws -> Int64 {
        try Connection(path: path).withStatement("SELECT count(*) FROM largeFields") {
            try $0.step() ? $0.int64(at: 0) : -1
        }
    }

    private func write(_ store: SQLiteCloudStore, _ fields: [UInt8], isDeleted: Bool = false) throws {
        try store.apply {
            $0.records = [Rows.record("a", counter: 1, isDeleted: isDeleted, fields: fields)]
        }
    }

    @Test func fieldsOfEverySizeAreReadAsTheyWereWritten() throws {
        let store = try SQLiteCloudStore(path: path)
        for count in [0, 1, 2_047, 2_048, 2_049, 5_000, 1_000_000, 3, 2_049, 2_049] {
            let fields = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
            try write(store, fields)
            #expect(try store.record("a")?.fields == fields)
            let sizes = try store.load { $0.assets.sizesOf = [Rows.key("a")] }.assets.sizes
            #expect(sizes[Rows.key("a")]?.recordBytes == Int64(count))
            #expect(try largeRowsCount() == (count > 2_048 ? 1 : 0), "the row before is removed")
        }
    }

    @Test func everyWayOfReadingFindsLargeFields() throws {
        let store = try SQLiteCloudStore(path: path)
        let row = Rows.record("a", counter: 1, fields: Self.large)
        try store.apply {
            $0.records = [row]
            $0.indexes = [
                RecordIndexRow(
                    key: row.key, recordType: "todo",
                    entries: [StoredIndexEntry(field: "title", kind: .order, value: [1])])
            ]
        }
        try store.read { reader in
            let query = RecordChangesQuery(
                zone: Rows.zone, after: 0, tombstonesAfter: 0, recordsMax: 10, bytesMax: 1 << 20)
            let changed = try reader.changedRecords(query).rows
            #expect(changed == [row])
            var scan = IndexScan(
                zone: Rows.zone, recordType: "todo", source: .entries(field: "title", kind: .order),
                rowsMax: 10)
            scan.withRecords = true
            #expect(try reader.find(scan).rows.map(\.record) == [row])
            #expect(
                try reader.records(ofType: "todo", after: nil, recordsMax: 10, bytesMax: 1 << 20).rows == [
                    row
                ])
        }
    }

    @Test func largeFieldsGoWithTheirRecord() throws {
        let store = try SQLiteCloudStore(path: path)
        try write(store, Self.large)
        try write(store, [], isDeleted: true)
        #expect(try largeRowsCount() == 0, "a tombstone has none")
        try write(store, Self.large)
        try store.apply { $0.removedRecords = [Rows.key("a")] }
        #expect(try largeRowsCount() == 0)
        try write(store, Self.large)
        try store.apply { $0.clearedZones = [Rows.zone] }
        while try store.clearStep() {}
        #expect(try largeRowsCount() == 0)
    }

    @Test func aSearchReadsNothingOfTheLargeFieldsOnItsWay() throws {
        var writing: SQLiteCloudStore? = try SQLiteCloudStore(path: path)
        let small = Rows.record("record 8", counter: 8)
        try writing?.apply { changes in
            changes.records = (1...15).map { index in
                index == 8
                    ? small : Rows.record("record \(index)", counter: Int64(index), fields: Self.large)
            }
        }
        writing = nil
        let vfs = FaultVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        let store = try SQLiteCloudStore(path: path, options: options)
        _ = try store.load { $0.zones = [Rows.zone] }
        let before = vfs.count(of: .read)
        #expect(try store.record("record 8") == small)
        #expect(vfs.count(of: .read) - before < 10, "1 MB has 245 pages")
    }

    @Test func aFileOfVersionTwelveKeepsItsLargeFieldsUntilTheyAreWrittenAgain() throws {
        try makeVersionTwelve()
        let store = try SQLiteCloudStore(path: path)
        #expect(try store.record("a")?.fields == Self.large)
        #expect(try largeRowsCount() == 0)
        try write(store, Self.large)
        #expect(try store.record("a")?.fields == Self.large)
        #expect(try largeRowsCount() == 1)
    }

    @Test func findingsNameFieldsThatAreNotThereOrHaveNoRecord() throws {
        let store = try SQLiteCloudStore(path: path)
        try write(store, Self.large)
        let file = try #require(try StoreFile(path: path))
        func found() throws -> Int { try file.findings().filter { $0.check == "fields" }.count }
        #expect(try found() == 0)
        try Connection(path: path).execute("UPDATE largeFields SET id = id + 1")
        #expect(try found() == 2)
        try Connection(path: path).execute("UPDATE largeFields SET id = id - 1")
        try store.apply { $0.records = [Rows.record("b", counter: 2, fields: Self.large)] }
        #expect(try found() == 0)
        try Connection(path: path).execute(
            "DELETE FROM largeFields WHERE id = 2; UPDATE records SET fieldsRow = 1")
        #expect(try found() == 1, "both have one row")
    }

    /// A store's file as version 12 had it: the fields of each record are in its row.
    private func makeVersionTwelve() throws {
        var store: SQLiteCloudStore? = try SQLiteCloudStore(path: path)
        if let store { try write(store, Self.large) }
        store = nil
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.storeTwelve)
        try connection.close()
    }
}
