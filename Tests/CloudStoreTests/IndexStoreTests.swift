import CloudStore
import SQLiteTestSupport
import System
import Testing

/// What every store promises of its indexes. It runs on each of them, and has no branch for any.
@Suite struct IndexStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func row(_ name: String, _ entries: [StoredIndexEntry], in zone: ZoneKey = Rows.zone)
        -> RecordIndexRow
    {
        RecordIndexRow(key: Rows.key(name, in: zone), recordType: "todo", entries: entries.sorted())
    }

    private func entry(_ value: [UInt8], field: String = "f", kind: StoredIndexEntry.Kind = .order)
        -> StoredIndexEntry
    {
        StoredIndexEntry(field: field, kind: kind, value: value)
    }

    private func scan(
        _ source: IndexScan.Source = .entries(field: "f", kind: .order), in zone: ZoneKey = Rows.zone,
        rowsMax: Int = 1_000, _ build: (inout IndexScan) -> Void = { _ in }
    ) -> IndexScan {
        var scan = IndexScan(zone: zone, recordType: "todo", source: source, rowsMax: rowsMax)
        build(&scan)
        return scan
    }

    private func names(_ store: any CloudStore, _ scan: IndexScan) throws -> [String] {
        try store.read { try $0.find(scan).rows.map(\.position.recordName) }
    }

    @Test(arguments: TestStore.all) func entriesAreFoundInTheOrderOfTheirBytesAndThenTheirNames(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        try store.apply {
            $0.records = ["a", "b", "c", "d"].map { Rows.record($0, counter: 1) }
            $0.indexes = [
                row("c", [entry([1])]), row("a", [entry([1]), entry([2], field: "g")]),
                row("b", [entry([0, 255])]),
                row("d", [entry([1, 0])]),
            ]
        }
        #expect(try names(store, scan()) == ["b", "a", "c", "d"])
        #expect(try names(store, scan { $0.isDescending = true }) == ["d", "c", "a", "b"])
        #expect(try names(store, scan(.names)) == ["a", "b", "c", "d"])
        #expect(try names(store, scan(.names) { $0.isDescending = true }) == ["d", "c", "b", "a"])
        #expect(try names(store, scan(.entries(field: "g", kind: .order))) == ["a"])
        #expect(try names(store, scan(.entries(field: "f", kind: .value))) == [])
        let only = scan {
            $0.lower = [1]
            $0.upper = [1, 0]
        }
        #expect(try names(store, only) == ["a", "c"])
        #expect(try store.read { try ($0.count(only, max: 10), $0.count(only, max: 1)) } == (2, 1))
        let page = try store.read { try $0.find(scan(rowsMax: 2) { $0.withRecords = true }) }
        #expect(page.moreComing && page.rows.map(\.record) == ["b", "a"].map { Rows.record($0, counter: 1) })
        let behind = try #require(page.rows.last?.position)
        #expect(try names(store, scan { $0.after = behind }) == ["c", "d"])
        let before = scan {
            $0.after = behind
            $0.isDescending = true
        }
        #expect(try names(store, before) == ["b"])
    }

    @Test(arguments: TestStore.all) func aRecordsNewEntriesTakeThePlaceOfItsOldOnes(_ kind: TestStore) throws
    {
        let store = try kind.make(folder)
        try store.apply { $0.indexes = [row("a", [entry([1]), entry([2])]), row("b", [entry([2])])] }
        try store.apply { $0.indexes = [row("a", [entry([2]), entry([3])])] }
        #expect(try names(store, scan()) == ["a", "b", "a"])
        try store.apply { $0.indexes = [row("a", [])] }
        #expect(try names(store, scan()) == ["b"])
        #expect(try names(store, scan(.names)) == ["a", "b"])
        #expect(try store.read { try $0.entries(of: Rows.key("a"), recordType: "todo") } == [])
        #expect(try store.read { try $0.entries(of: Rows.key("c"), recordType: "todo") } == nil)
    }

    @Test(arguments: TestStore.all) func deletedRecordsAndClearedZonesLoseTheirEntries(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        let other = ZoneKey(database: Rows.database, zoneName: "other")
        try store.apply {
            $0.records =
                ["a", "b", "c"].map { Rows.record($0, counter: 1) } + [
                    Rows.record("a", counter: 1, in: other)
                ]
            $0.indexes = ["a", "b", "c"].map { row($0, [entry([1])]) } + [row("a", [entry([1])], in: other)]
        }
        try store.apply { $0.records = [Rows.record("a", counter: 2, isDeleted: true)] }
        #expect(try names(store, scan()) == ["b", "c"] && names(store, scan(.names)) == ["b", "c"])
        try store.apply { $0.removedRecords = [Rows.key("b")] }
        #expect(try names(store, scan()) == ["c"] && names(store, scan(.names)) == ["c"])
        try store.apply { $0.clearedZones = [Rows.zone] }
        #expect(try names(store, scan()) == [] && names(store, scan(.names)) == [])
        #expect(try names(store, scan(in: other)) == ["a"])
        try store.apply {
            $0.records = [Rows.record("z", counter: 3)]
            $0.indexes = [row("z", [entry([1])])]
        }
        #expect(try names(store, scan()) == ["z"])
    }

    @Test(arguments: TestStore.all) func aMemberThatThrowsLeavesNoEntriesAndItsNeighboursAreFound(
        _ kind: TestStore
    ) throws {
        struct Refusal: Error {}
        let store = try kind.make(folder)
        let other = ZoneKey(database: Rows.database, zoneName: "other")
        try store.write { writer in
            for (name, zone) in [("a", Rows.zone), ("b", other)] {
                for isRefused in [true, false] {
                    var changes = StoreChanges()
                    changes.indexes = [row(isRefused ? "refused" : name, [entry([1])], in: zone)]
                    _ = try? writer.member {
                        try writer.apply(changes)
                        if isRefused { throw Refusal() }
                    }
                }
            }
        }
        #expect(try names(store, scan()) == ["a"] && names(store, scan(in: other)) == ["b"])
    }

    @Test(arguments: TestStore.all) func theRecordsOfATypeAreListedThroughAllZones(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let zones = ["a", "b", "c"].map { ZoneKey(database: Rows.database, zoneName: $0) }
        let keys = zones.flatMap { zone in ["x", "y", "z"].map { Rows.key($0, in: zone) } }
        try store.apply {
            $0.records = keys.map { Rows.record($0.recordName, counter: 1, in: $0.zone) }
            $0.indexes = keys.map {
                RecordIndexRow(key: $0, recordType: $0.recordName == "z" ? "b" : "a", entries: [])
            }
        }
        for recordsMax in 1...7 {
            var found: [RecordKey] = []
            var isMore = true
            while isMore {
                let page = try store.read {
                    try $0.records(ofType: "a", after: found.last, recordsMax: recordsMax, bytesMax: 1_000)
                }
                #expect(page.rows.count <= recordsMax && (!page.moreComing || !page.rows.isEmpty))
                found += page.rows.map(\.key)
                isMore = page.moreComing
            }
            #expect(found == keys.filter { $0.recordName != "z" })
        }
    }

    @Test(arguments: TestStore.all) func workThatIsLeftIsKeptUntilItIsDone(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let work = ["b", "a"].map { IndexWorkRow(recordType: $0, content: [7, 0]) }
        try store.apply { $0.indexWork = work }
        #expect(try store.read { try $0.indexWork(typesMax: 10) } == work.reversed())
        #expect(try store.read { try $0.indexWork(typesMax: 1) } == [work[1]])
        #expect(try store.load { $0.indexWorkOf = ["b", "c"] }.indexWork == ["b": work[0]])
        try store.apply { $0.indexWork = [IndexWorkRow(recordType: "b", content: [])] }
        #expect(try store.read { try $0.indexWork(typesMax: 10) } == [work[1]])
    }

    /// Any range, direction and start against sorting and filtering all of it.
    @Test(arguments: TestStore.all) func anyScanFindsWhatSortingAndFilteringFinds(_ kind: TestStore) throws {
        let seed: UInt64 = 77
        let random = SeededRandomSource(seed: seed)
        let store = try kind.make(folder)
        func bytes() -> [UInt8] {
            (0..<random.next(in: 0..<3)).map { _ in UInt8(random.next(in: 0..<3) * 127) }
        }
        var all: [IndexPosition] = []
        for number in 0..<60 {
            let name = "r\(number % 50)"
            let values = Set((0..<random.next(in: 0..<4)).map { _ in bytes() })
            try store.apply { $0.indexes = [row(name, values.map { entry($0) })] }
            all.removeAll { $0.recordName == name }
            all += values.map { IndexPosition(value: $0, recordName: name) }
        }
        for _ in 0..<500 {
            let scan = scan(rowsMax: random.next(in: 1..<20)) {
                $0.lower = bytes()
                $0.upper = random.next(in: 0..<2) == 0 ? nil : bytes()
                $0.isDescending = random.next(in: 0..<2) == 0
                if random.next(in: 0..<2) == 0 {
                    $0.after = IndexPosition(value: bytes(), recordName: "r\(random.next(in: 0..<60))")
                }
            }
            var expected = all.sorted().filter { position in
                !position.value.lexicographicallyPrecedes(scan.lower)
                    && scan.upper.map { position.value.lexicographicallyPrecedes($0) } ?? true
                    && scan.after.map { scan.isDescending ? position < $0 : $0 < position } ?? true
            }
            if scan.isDescending { expected.reverse() }
            let page = try store.read { try $0.find(scan) }
            #expect(
                page.rows.map(\.position) == Array(expected.prefix(scan.rowsMax)), "seed \(seed), \(scan)")
            #expect(page.moreComing == (expected.count > scan.rowsMax), "seed \(seed), \(scan)")
            #expect(
                try store.read { try $0.count(scan, max: 5) } == min(5, expected.count),
                "seed \(seed), \(scan)")
        }
    }
}
