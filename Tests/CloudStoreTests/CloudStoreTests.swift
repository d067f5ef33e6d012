import CloudStore
import SQLiteTestSupport
import Testing

/// What every store promises. It runs on each of them, and has no branch for any.
@Suite struct CloudStoreTests {
    struct Refusal: Error {}

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: TestStore.all) func whatWasWrittenIsReadBackWhole(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let database = DatabaseRow(key: Rows.database, epoch: .max, counter: 7)
        let zone = ZoneRow(
            key: Rows.zone, epoch: 1 << 63, counter: .max, tombstoneFloor: 3, databaseCounter: 7,
            isDeleted: true)
        var record = Rows.record("a", counter: 9, fields: [UInt8](0...255))
        record.parent = "üñï 🎉"
        record.modified = StoreStamp(
            timestampMilliseconds: -62_135_596_800_000, userRecordName: "", deviceID: "ü")
        try store.apply {
            $0.databases = [database]
            $0.zones = [zone]
            $0.records = [record]
        }
        let loaded = try store.load {
            $0.databases = [Rows.database]
            $0.zones = [Rows.zone]
            $0.records = [Rows.key("a")]
        }
        #expect(loaded.databases[Rows.database] == database)
        #expect(loaded.zones[Rows.zone] == zone)
        #expect(loaded.records[Rows.key("a")] == record)
    }

    @Test(arguments: TestStore.all) func whatIsNotThereIsAbsentFromTheAnswer(_ kind: TestStore) throws {
        let loaded = try kind.make(folder).load {
            $0.databases = [Rows.database]
            $0.zones = [Rows.zone]
            $0.records = [Rows.key("a")]
            $0.dependantsOf = [Rows.key("a")]
        }
        #expect(loaded.databases.isEmpty && loaded.zones.isEmpty && loaded.records.isEmpty)
        #expect(loaded.dependants[Rows.key("a")] == [])
    }

    @Test(arguments: TestStore.all) func anAnswerThatIsTooLargeSaysThatItIsCutShort(_ kind: TestStore) throws
    {
        let store = try kind.make(folder)
        let fields = [UInt8](repeating: 7, count: 1000)
        try store.apply { $0.records = (1...3).map { Rows.record("r\($0)", counter: $0, fields: fields) } }
        func load(bytesMax: Int) throws -> StoreLoaded {
            try store.load {
                $0.records = ["r1", "none", "r2", "r3"].map { Rows.key($0) }
                $0.bytesMax = bytesMax
            }
        }
        #expect(try load(bytesMax: 3000).records.count == 3 && !load(bytesMax: 3000).isCutShort)
        #expect(try load(bytesMax: 1500).records.count == 2 && load(bytesMax: 1500).isCutShort)
    }

    @Test(arguments: TestStore.all) func aWriteThatThrowsLeavesNoTrace(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        var changes = StoreChanges()
        changes.records = [Rows.record("a", counter: 1)]
        #expect(throws: Refusal.self) {
            try store.write { writer in
                try writer.apply(changes)
                throw Refusal()
            }
        }
        #expect(try store.record("a") == nil)
    }

    @Test(arguments: TestStore.all) func aMemberThatThrowsIsUndoneAloneAndItsNeighboursAreKept(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        try store.write { writer in
            for name in ["a", "b", "c"] {
                var changes = StoreChanges()
                changes.records = [Rows.record(name, counter: 1)]
                do {
                    try writer.member {
                        try writer.apply(changes)
                        if name == "b" { throw Refusal() }
                    }
                } catch is Refusal {
                    #expect(name == "b" && writer.isInTransaction)
                }
            }
        }
        #expect(try store.record("a") != nil)
        #expect(try store.record("b") == nil)
        #expect(try store.record("c") != nil)
    }

    @Test(arguments: TestStore.all) func aWriterSeesWhatItHasWritten(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.write { writer in
            var changes = StoreChanges()
            changes.records = [Rows.record("a", counter: 4)]
            try writer.apply(changes)
            var wanted = StoreLoad()
            wanted.records = [Rows.key("a")]
            #expect(try writer.load(wanted).records[Rows.key("a")]?.counter == 4)
        }
    }

    @Test(arguments: TestStore.all) func aRecordStandsInTheChangeLogOnceAsItIsNow(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.apply { $0.records = [Rows.record("a", counter: 1), Rows.record("b", counter: 2)] }
        try store.apply { $0.records = [Rows.record("a", counter: 3)] }
        try store.apply { $0.records = [Rows.record("b", counter: 4, isDeleted: true)] }
        let page = try store.changes()
        #expect(page.rows == [Rows.record("a", counter: 3), Rows.record("b", counter: 4, isDeleted: true)])
        #expect(!page.moreComing)
        #expect(try store.changes(after: 3).rows.map(\.key.recordName) == ["b"])
        #expect(try store.changes(after: 4).rows == [])
    }

    @Test(arguments: TestStore.all) func pagesFollowEachOtherWithoutAHoleOrARepeat(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let counters = Array(Int64(1)...25)
        try store.apply { $0.records = counters.reversed().map { Rows.record("r\($0)", counter: $0) } }
        var seen: [Int64] = []
        var pages: [Int] = []
        while true {
            let page = try store.changes(after: seen.last ?? 0, recordsMax: 10)
            seen += page.rows.map(\.counter)
            pages.append(page.rows.count)
            guard page.moreComing else { break }
        }
        #expect(seen == counters)
        #expect(pages == [10, 10, 5])
        #expect(try !store.changes(after: 15, recordsMax: 10).moreComing)
    }

    @Test(arguments: TestStore.all) func aPageEndsWhenItsBytesAreFull(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let fields = [UInt8](repeating: 7, count: 1000)
        try store.apply { $0.records = (1...5).map { Rows.record("r\($0)", counter: $0, fields: fields) } }
        let page = try store.changes(bytesMax: 1500)
        #expect(page.rows.count == 2 && page.moreComing)
        #expect(try store.changes(bytesMax: 1).rows.count == 1)
    }

    @Test(arguments: TestStore.all) func tombstonesAtOrBelowTheAskedCounterAreSkipped(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        try store.apply {
            $0.records = [
                Rows.record("a", counter: 1), Rows.record("b", counter: 2, isDeleted: true),
                Rows.record("c", counter: 3, isDeleted: true), Rows.record("d", counter: 4),
            ]
        }
        #expect(try store.changes(tombstonesAfter: 2).rows.map(\.key.recordName) == ["a", "c", "d"])
        #expect(try store.changes(tombstonesAfter: 4).rows.map(\.key.recordName) == ["a", "d"])
    }

    @Test(arguments: TestStore.all) func prunedTombstonesAreGoneAndRecordsStay(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.apply {
            $0.records = [
                Rows.record("a", counter: 1), Rows.record("b", counter: 2, isDeleted: true),
                Rows.record("c", counter: 3, isDeleted: true),
            ]
        }
        try store.apply { $0.prunedTombstones = [PrunedTombstones(zone: Rows.zone, through: 2)] }
        #expect(try store.changes().rows.map(\.key.recordName) == ["a", "c"])
    }

    @Test(arguments: TestStore.all) func recordsWithoutACounterStayOutOfTheChangeLog(_ kind: TestStore) throws
    {
        let store = try kind.make(folder)
        try store.apply { $0.records = [Rows.record("a", counter: 0)] }
        #expect(try store.changes().rows == [])
        #expect(try store.record("a") != nil)
        try store.apply { $0.removedRecords = [Rows.key("a")] }
        #expect(try store.record("a") == nil)
    }

    @Test(arguments: TestStore.all) func clearingAZoneLeavesItsNeighbours(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let neighbours = [
            ZoneKey(database: Rows.database, zoneName: "todo"),
            ZoneKey(database: Rows.database, zoneName: "todos2"),
            ZoneKey(database: .privateDatabase(of: "_bob"), zoneName: "todos"),
            ZoneKey(database: .publicDatabase, zoneName: "todos"),
        ]
        try store.apply { changes in
            changes.records = ([Rows.zone] + neighbours).map { Rows.record("a", counter: 1, in: $0) }
            changes.addedReferences = ([Rows.zone] + neighbours).map {
                ReferenceRow(target: Rows.key("a", in: $0), sourceName: "child", kind: .deleteSelf)
            }
        }
        try store.apply { $0.clearedZones = [Rows.zone] }
        #expect(try store.record("a") == nil)
        #expect(try store.load { $0.dependantsOf = [Rows.key("a")] }.dependants[Rows.key("a")] == [])
        for zone in neighbours {
            let key = Rows.key("a", in: zone)
            #expect(try store.record("a", in: zone) != nil)
            #expect(try store.load { $0.dependantsOf = [key] }.dependants[key]?.count == 1)
        }
    }

    @Test(arguments: TestStore.all) func whoRefersToARecordIsFoundSorted(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let rows = [
            ReferenceRow(target: Rows.key("a"), sourceName: "x", kind: .deleteSelf),
            ReferenceRow(target: Rows.key("a"), sourceName: "x", kind: .parent),
            ReferenceRow(target: Rows.key("a"), sourceName: "y", kind: .validate),
        ]
        let other = ReferenceRow(target: Rows.key("b"), sourceName: "x", kind: .validate)
        try store.apply { $0.addedReferences = rows.reversed() + [other, other] }
        func dependants() throws -> [ReferenceRow]? {
            try store.load { $0.dependantsOf = [Rows.key("a")] }.dependants[Rows.key("a")]
        }
        #expect(try dependants() == rows)
        try store.apply { $0.removedReferences = [rows[1]] }
        #expect(try dependants() == [rows[0], rows[2]])
    }

    @Test(arguments: TestStore.all) func changedZonesComeInTheOrderOfTheirLastChange(_ kind: TestStore) throws
    {
        let store = try kind.make(folder)
        func zone(_ name: String, _ counter: Int64, isDeleted: Bool = false, of owner: String = "_ada")
            -> ZoneRow
        {
            let key = ZoneKey(database: .privateDatabase(of: owner), zoneName: name)
            return ZoneRow(key: key, epoch: 5, databaseCounter: counter, isDeleted: isDeleted)
        }
        try store.apply {
            $0.zones = [zone("a", 3), zone("b", 1), zone("c", 2, isDeleted: true), zone("d", 9, of: "_bob")]
        }
        func changed(after: Int64, deletedAfter: Int64 = 0, zonesMax: Int = 10) throws -> ChangesPage<ZoneRow>
        {
            try store.read {
                try $0.changedZones(
                    in: Rows.database, after: after, deletedAfter: deletedAfter, zonesMax: zonesMax)
            }
        }
        #expect(try changed(after: 0).rows.map(\.key.zoneName) == ["b", "c", "a"])
        #expect(try changed(after: 0, deletedAfter: 2).rows.map(\.key.zoneName) == ["b", "a"])
        #expect(try changed(after: 1, zonesMax: 1).rows.map(\.key.zoneName) == ["c"])
        #expect(try changed(after: 1, zonesMax: 1).moreComing)
        #expect(try !changed(after: 1, zonesMax: 2).moreComing)
    }

    @Test(arguments: TestStore.all) func zonesOfAllUsersAreListedPageByPageInTheOrderOfTheirKeys(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        let keys = [
            ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "a"),
            ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "b"),
            ZoneKey(database: .privateDatabase(of: "_bob"), zoneName: "a"),
            ZoneKey(database: .privateDatabase(of: "_carl"), zoneName: ""),
        ]
        try store.apply {
            $0.zones = keys.reversed().map { ZoneRow(key: $0, epoch: 1, isDeleted: $0 == keys[1]) }
        }
        var seen: [ZoneKey] = []
        var pages: [Int] = []
        while true {
            let page = try store.read { try $0.zones(after: seen.last, zonesMax: 3) }
            seen += page.rows.map(\.key)
            pages.append(page.rows.count)
            guard page.moreComing else { break }
        }
        #expect(seen == keys)
        #expect(pages == [3, 1])
        #expect(try store.read { try !$0.zones(after: nil, zonesMax: 4).moreComing })
    }

    @Test(arguments: TestStore.all) func recordsOfAZoneAreListedPageByPageInTheOrderOfTheirNames(
        _ kind: TestStore
    ) throws {
        let store = try kind.make(folder)
        let other = ZoneKey(database: Rows.database, zoneName: "todos2")
        try store.apply {
            $0.records = [
                Rows.record("c", counter: 1), Rows.record("a", counter: 0), Rows.record("d", counter: 2),
                Rows.record("b", counter: 3, isDeleted: true), Rows.record("aa", counter: 9, in: other),
            ]
        }
        func page(after: String?, recordsMax: Int = 10, bytesMax: Int = 1 << 20) throws -> ChangesPage<
            StoredRecord
        > {
            try store.read {
                try $0.records(in: Rows.zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
            }
        }
        #expect(try page(after: nil).rows.map(\.key.recordName) == ["a", "c", "d"])
        #expect(try page(after: nil, recordsMax: 2).rows.map(\.key.recordName) == ["a", "c"])
        #expect(try page(after: nil, recordsMax: 2).moreComing && !page(after: "a", recordsMax: 2).moreComing)
        #expect(try page(after: "a", recordsMax: 2).rows.map(\.key.recordName) == ["c", "d"])
        #expect(try page(after: nil, bytesMax: 1).rows.count == 1)
        #expect(try page(after: "d").rows == [])
    }

    @Test(arguments: TestStore.all) func anOutlineIsARecordWithoutItsFields(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let row = Rows.record("a", counter: 1, fields: [UInt8](repeating: 7, count: 20_000))
        try store.apply { $0.records = [row, Rows.record("b", counter: 2, isDeleted: true)] }
        let loaded = try store.load { $0.outlines = ["a", "b", "none"].map { Rows.key($0) } }
        var outline = row
        outline.fields = []
        #expect(
            loaded.records == [
                Rows.key("a"): outline, Rows.key("b"): Rows.record("b", counter: 2, isDeleted: true),
            ])
    }

    @Test(arguments: TestStore.all) func allReferencesOfARecordGoAtOnce(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        func row(_ target: String, _ source: String) -> ReferenceRow {
            ReferenceRow(target: Rows.key(target), sourceName: source, kind: .validate)
        }
        try store.apply { $0.addedReferences = [row("a", "x"), row("b", "x"), row("a", "y")] }
        try store.apply { $0.removedSources = [Rows.key("x")] }
        let loaded = try store.load { $0.dependantsOf = [Rows.key("a"), Rows.key("b")] }
        #expect(loaded.dependants == [Rows.key("a"): [row("a", "y")], Rows.key("b"): []])
    }

    @Test(arguments: TestStore.all) func moreReferencesThanWereAskedForAreCutShort(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.apply {
            $0.addedReferences = ["a", "b"].flatMap { target in
                (1...3).map {
                    ReferenceRow(target: Rows.key(target), sourceName: "s\($0)", kind: .deleteSelf)
                }
            }
        }
        func load(_ dependantsMax: Int) throws -> StoreLoaded {
            try store.load {
                $0.dependantsOf = [Rows.key("a"), Rows.key("b")]
                $0.dependantsMax = dependantsMax
            }
        }
        #expect(try load(6).dependants.values.map(\.count) == [3, 3] && !load(6).isCutShort)
        #expect(try load(5).dependants[Rows.key("b")]?.count == 2 && load(5).isCutShort)
        #expect(try load(3).dependants[Rows.key("b")] == [] && load(3).isCutShort)
    }
}
