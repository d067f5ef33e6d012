import CloudStore
import SQLite
import SQLiteTestSupport
import Testing

/// A zone that is cleared is gone at once, and its rows go in steps.
@Suite struct ClearedZoneTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let other = ZoneKey(database: Rows.database, zoneName: "todos!")
    private static let tables = [
        "records", "recordReferences", "recordAssets", "indexedRecords", "indexEntries",
    ]

    private func fill(_ store: any CloudStore, _ names: [String], in zone: ZoneKey = Rows.zone) throws {
        try store.apply { changes in
            for (index, name) in names.enumerated() {
                let key = Rows.key(name, in: zone)
                changes.records.append(Rows.record(name, counter: Int64(index + 1), in: zone))
                changes.addedReferences.append(
                    ReferenceRow(target: Rows.key("root", in: zone), sourceName: name, kind: .deleteSelf))
                changes.assets.append(
                    RecordAssetsRow(key: key, uses: [AssetUse(digest: Array(name.utf8), bytes: 7)]))
                let entry = StoredIndexEntry(field: "title", kind: .order, value: [1])
                changes.indexes.append(RecordIndexRow(key: key, recordType: "todo", entries: [entry]))
            }
        }
    }

    /// The names that each way of reading finds in the zone.
    private func names(_ store: any CloudStore) throws -> Set<[String]> {
        let root = Rows.key("root")
        let known = ["a", "b", "c", "new"]
        return try store.read { reader in
            var wanted = StoreLoad()
            wanted.records = known.map { Rows.key($0) }
            wanted.dependantsOf = [root]
            wanted.deleteSelfCountsOf = [root]
            wanted.deleteSelfCountMax = 100
            wanted.assets.sizesOf = wanted.records
            wanted.assets.owned = known.map { OwnedAsset(database: Rows.database, digest: Array($0.utf8)) }
            let loaded = try reader.load(wanted)
            let query = RecordChangesQuery(
                zone: Rows.zone, after: 0, tombstonesAfter: 0, recordsMax: 100, bytesMax: 1 << 20)
            var scan = IndexScan(
                zone: Rows.zone, recordType: "todo", source: .entries(field: "title", kind: .order),
                rowsMax: 100)
            scan.withRecords = true
            let found = try reader.find(scan).rows.map(\.position.recordName)
            #expect(try reader.count(scan, max: 100) == found.count)
            #expect(loaded.deleteSelfCounts[root] == found.count)
            #expect(loaded.assets.sizes.count == found.count)
            let listed = try reader.records(ofType: "todo", after: nil, recordsMax: 100, bytesMax: 1 << 20)
                .rows
            return Set([
                loaded.records.keys.map(\.recordName).sorted(),
                (loaded.dependants[root] ?? []).map(\.sourceName),
                loaded.assets.owned.keys.map { String(decoding: $0.digest, as: UTF8.self) }.sorted(),
                try reader.changedRecords(query).rows.map(\.key.recordName).sorted(),
                try reader.records(in: Rows.zone, after: nil, recordsMax: 100, bytesMax: 1 << 20).rows
                    .map(\.key.recordName),
                found, listed.filter { $0.key.zone == Rows.zone }.map(\.key.recordName),
                try known.filter { try reader.entries(of: Rows.key($0), recordType: "todo") != nil },
            ])
        }
    }

    private func count(_ path: String) throws -> [Int64] {
        let connection = try Connection(path: path)
        return try Self.tables.map { table in
            try connection.withStatement("SELECT count(*) FROM \(table)") {
                try $0.step() ? $0.int64(at: 0) : -1
            }
        }
    }

    @Test(arguments: TestStore.all) func aClearedZoneIsInvisibleAtOnceAndTheNextOneHasNothingOfIt(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        try fill(store, ["x"], in: Self.other)
        for _ in 1...3 {
            try fill(store, ["a", "b", "c"])
            #expect(try names(store) == [["a", "b", "c"]])
            try store.apply { $0.clearedZones = [Rows.zone] }
            #expect(try names(store) == [[]])
        }
        try fill(store, ["b", "new"])
        repeat { #expect(try names(store) == [["b", "new"]]) } while try store.clearStep()
        #expect(try names(store) == [["b", "new"]])
        #expect(try store.record("x", in: Self.other) != nil)
        try store.apply { $0.clearedZones = [Rows.zone] }
        while try store.clearStep() {}
        #expect(try names(store) == [[]])
        #expect(try store.read { try !$0.hasClearedRows() })
        try fill(store, ["c"])
        #expect(try names(store) == [["c"]])
    }

    /// What holds the writer is a step.
    @Test func clearingTouchesNoRowAndAStepTouchesAsManyAsItMay() throws {
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        let names = (0..<40).map { "r\($0)" }
        try fill(store, names)
        try store.apply { $0.clearedZones = [Rows.zone] }
        #expect(try count(path) == [40, 40, 40, 40, 40])
        for step in 1...14 {
            // A record, its entry, its reference and its file are four.
            #expect(try store.clearStep(rowsMax: 10) == (step < 14))
            let left = Int64(max(0, 40 - 3 * step))
            #expect(try count(path) == [left, left, left, left, left])
        }
        let rest =
            "SELECT count(*) FROM (SELECT zone FROM zonePlaces UNION ALL SELECT zone FROM clearings "
            + "UNION ALL SELECT zone FROM indexParts)"
        let connection = try Connection(path: path)
        #expect(try connection.withStatement(rest) { try $0.step() ? $0.int64(at: 0) : -1 } == 0)
    }

    @Test func aStepContinuesWithTheNextZoneUpToItsLimitOfRows() throws {
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        for number in 0..<20 {
            let zone = ZoneKey(database: Rows.database, zoneName: "z\(number)")
            try fill(store, ["a"], in: zone)
            try store.apply { $0.clearedZones = [zone] }
        }
        // A zone is four rows and its end counts as twelve.
        var left: [Int64] = []
        while try store.clearStep(rowsMax: 150) { left.append(try count(path)[0]) }
        #expect(left == [10])
        #expect(try count(path) == [0, 0, 0, 0, 0])
    }

    @Test func aRecordWithManyIndexEntriesIsRemovedInSeveralSteps() throws {
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        try store.apply { changes in
            for name in ["a", "b"] {
                let entries = (0..<25).map { StoredIndexEntry(field: "title", kind: .order, value: [$0]) }
                changes.records.append(Rows.record(name, counter: 1))
                changes.indexes.append(
                    RecordIndexRow(key: Rows.key(name), recordType: "todo", entries: entries))
            }
        }
        try store.apply { $0.clearedZones = [Rows.zone] }
        var entries: [Int64] = []
        var mayBeMore = true
        while mayBeMore {
            mayBeMore = try store.clearStep(rowsMax: 10)
            entries.append(try count(path)[4])
        }
        #expect(entries == [40, 30, 21, 11, 1, 0])
        #expect(try count(path) == [0, 0, 0, 0, 0])
    }

    @Test func aStepEndsBehindTheRecordWhoseFieldsCrossItsBytes() throws {
        let path = folder.file("store.db")
        let store = try SQLiteCloudStore(path: path)
        try store.apply { changes in
            changes.records = (0..<6).map {
                Rows.record("r\($0)", counter: Int64($0 + 1), fields: [UInt8](repeating: 1, count: 1_000))
            }
        }
        try store.apply { $0.clearedZones = [Rows.zone] }
        _ = try store.write { try $0.removeClearedRows(rowsMax: 100, bytesMax: 1_001) }
        #expect(try count(path)[0] == 4)
    }

    @Test(arguments: TestStore.all) func aMemberThatThrowsClearsNothing(_ kind: TestStore) throws {
        struct Refusal: Error {}
        let store = try kind.make(folder)
        try fill(store, ["a"])
        try store.write { writer in
            var clearing = StoreChanges()
            clearing.clearedZones = [Rows.zone]
            _ = try? writer.member {
                try writer.apply(clearing)
                throw Refusal()
            }
            var changes = StoreChanges()
            changes.records = [Rows.record("b", counter: 2)]
            try writer.apply(changes)
        }
        #expect(try store.changes().rows.map(\.key.recordName) == ["a", "b"])
        #expect(try !store.clearStep())
        #expect(try store.changes().rows.map(\.key.recordName) == ["a", "b"])
    }
}
