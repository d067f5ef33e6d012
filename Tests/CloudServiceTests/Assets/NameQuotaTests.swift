import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

/// Names lie on the disk, so they count towards a quota: `docs/PROTOCOL.md`.
@Suite struct NameQuotaTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private func service(bytesMax: Int64, rowBytes: Int64 = 0) throws -> TestService {
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = bytesMax
        limits.assets.rowBytes = rowBytes
        limits.tombstoneMilliseconds = 1_000
        return TestService(store: try SQLiteCloudStore(path: path), limits: limits)
    }

    /// Names of the most bytes that a name may have.
    private func longName(_ number: Int) -> String {
        String(repeating: "n", count: 250) + "\(number + 10_000)"
    }

    private func counted(_ name: String, zone: String = "todos", type: String = "todo") -> Int64 {
        Int64(3 * ("_ada" + zone + name).utf8.count + type.utf8.count)
    }

    private func size(_ service: TestService) throws -> StoredSize {
        let key = UsageKey(scope: .privateDatabase, user: "_ada")
        var wanted = StoreLoad()
        wanted.usageOf = [key]
        return try service.service.store.read { try $0.load(wanted).usage[key]?.size } ?? StoredSize()
    }

    /// A field of bytes has no index entry; a record without fields has two bytes.
    private func create(_ name: String) -> RecordOperation { operation(.create, name) }

    @Test func namesAloneFillTheQuota() throws {
        let service = try service(bytesMax: 10_000)
        try service.zones(.create)
        let one = counted(longName(0)) + 2
        let fitCount = Int(10_000 / one)
        let results = try service.modify((0..<20).map { create(longName($0)) }, atomic: false).summaries
        #expect(
            results == Array(repeating: "saved", count: fitCount)
                + Array(repeating: "QUOTA_EXCEEDED", count: 20 - fitCount))
        #expect(try size(service).bytes == Int64(fitCount) * one)
        #expect(try service.modify([operation(.forceUpdate, longName(0))]).summaries == ["saved"])
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func aLongZonesNameCountsWithEachRecord() throws {
        let service = try service(bytesMax: 10_000)
        let zone = ZoneID(zoneName: longName(1))
        try service.zones(.create, [TestService.zone, zone])
        try service.modify([create("a")])
        let short = try size(service).bytes
        #expect(short == counted("a") + 2)
        try service.modify([create("a")], zone: zone)
        #expect(try size(service).bytes == short + counted("a", zone: zone.zoneName) + 2)
    }

    @Test func aTombstoneCountsItsNamesUntilItIsDiscarded() throws {
        let service = try service(bytesMax: 2 * (counted(longName(0)) + 2))
        try service.zones(.create)
        #expect(
            try service.modify([create(longName(0)), create(longName(1))]).summaries == ["saved", "saved"])
        #expect(
            try service.modify(
                [operation(.forceDelete, longName(0), type: nil), create(longName(2))], atomic: false
            )
            .summaries == ["deleted", "QUOTA_EXCEEDED"])
        #expect(try size(service).indexBytes == 2 * counted(longName(0)))
        #expect(try StoreAudit.findings(path: path) == [])
        #expect(
            try service.modify([create(longName(0))]).summaries == ["saved"], "it takes its tombstone's place"
        )
        #expect(
            try service.modify([operation(.forceDelete, longName(0), type: nil)]).summaries == ["deleted"])
        service.clock.advance(bySeconds: 120)
        while try service.service.pruneOutdated() {}
        #expect(try size(service).indexBytes == counted(longName(0)))
        #expect(try service.modify([create(longName(2))]).summaries == ["saved"])
        #expect(try StoreAudit.findings(path: path) == [])
        try service.modify([operation(.forceDelete, longName(1), type: nil)])
        try service.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
        #expect(try size(service).indexBytes == counted(longName(0)))
        #expect(try StoreAudit.findings(path: path) == [])
        try service.zones(.delete)
        #expect(try size(service).bytes == 0)
    }

    @Test func indexEntriesAloneFillTheQuota() throws {
        let service = try service(bytesMax: 20_000)
        try service.zones(.create)
        func save(_ text: String) throws -> [String] {
            try service.modify([operation(.forceUpdate, "a", ["text": Field(.string(text))])]).summaries
        }
        let words = (0..<400).map { "w\($0 + 100)" }
        #expect(try save(String(repeating: "x", count: words.joined(separator: " ").utf8.count)) == ["saved"])
        #expect(try save(words.joined(separator: " ")) == ["QUOTA_EXCEEDED"], "as many bytes, in words")
        #expect(try save(words.prefix(100).joined(separator: " ")) == ["saved"])
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func aFilesRowsCountWithTheRecordsNames() throws {
        let service = try service(bytesMax: 1 << 30)
        let key = RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos"), recordName: longName(0))
        #expect(key.countedFileBytes == Int64(2 * ("_ada" + "todos" + longName(0)).utf8.count + 64 + 48))
        func row(_ files: Int) -> RecordIndexRow {
            let values = (0..<files).map { number in
                FieldValue.asset(
                    StoredAsset(digest: [UInt8](repeating: UInt8(number), count: 32), bytes: 1).kept)
            }
            let fields = ["files": Field(.list(.assetList, values))]
            return IndexEntries.row(
                QuerySubject(key: key, recordType: "todo", fields: fields), Schema.initial)
        }
        #expect(row(3).countedBytes == row(0).countedBytes + 3 * key.countedFileBytes)
        try service.zones(.create)
    }

    /// Brings a file to what version 11 would have written.
    private func makeEarlier() throws {
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.storeTwelve)
        let names = "3 * length(owner || zone || name) + length(type)"
        try connection.execute(
            """
            CREATE TEMP TABLE counted AS SELECT owner, sum(\(names)) AS bytes FROM records GROUP BY owner;
            UPDATE usage SET indexBytes = indexBytes
                - coalesce((SELECT bytes FROM counted WHERE owner = usage.user), 0);
            UPDATE zones SET indexBytes = indexBytes - coalesce(
                (SELECT sum(\(names)) FROM records AS r WHERE r.owner = zones.owner AND r.zone = zones.zone), 0);
            UPDATE records SET indexBytes = indexBytes - (\(names));
            PRAGMA user_version = 11;
            """)
        try connection.close()
    }

    @Test func aFileOfAnEarlierVersionIsCountedInStepsAndNothingIsLost() throws {
        var service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        let count = 700
        for start in stride(from: 0, to: count, by: 100) {
            try service.modify((start..<start + 100).map { create(longName($0)) })
        }
        try service.modify([operation(.forceDelete, longName(0), type: nil)])
        while try service.service.keepUp() {}
        let counted = try size(service)
        try makeEarlier()
        // Fits the quota without its names.
        service = try self.service(bytesMax: 100_000)
        let earlier = try size(service)
        #expect(earlier.bytes < 100_000)
        #expect(try StoreAudit.findings(path: path, mayHaveEarlierTombstones: true) == [])
        #expect(try service.modify([create("new")]).summaries == ["saved"])
        var stepsCount = 0
        var before = try size(service).bytes
        while try service.service.indexes.buildStep() {
            stepsCount += 1
            let grown = try size(service).bytes - before
            before += grown
            #expect(grown <= 512 * self.counted(longName(0)), "each step is bounded")
        }
        #expect(stepsCount > 1)
        // The earlier version's tombstone counts as a row alone until it goes.
        #expect(
            try size(service).indexBytes == counted.indexBytes + self.counted("new")
                - self.counted(longName(0)))
        #expect(try StoreAudit.findings(path: path, mayHaveEarlierTombstones: true) == [])
        // Beyond the quota now: everything is there, what doesn't grow is saved, and deletions work.
        #expect(try service.lookup([longName(1), longName(699)]).summaries == ["saved", "saved"])
        #expect(try service.modify([create("another")]).summaries == ["QUOTA_EXCEEDED"])
        #expect(try service.modify([operation(.forceUpdate, longName(1))]).summaries == ["saved"])
        #expect(
            try service.modify([operation(.forceDelete, longName(2), type: nil)]).summaries == ["deleted"])
        service.clock.advance(bySeconds: 120)
        while try service.service.keepUp() {}
        #expect(try StoreAudit.findings(path: path) == [], "no tombstone is left")
    }

    @Test func whatDoesNotGrowIsSavedBeforeItsNamesAreCounted() throws {
        var service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        try service.modify([create(longName(0))])
        try makeEarlier()
        service = try self.service(bytesMax: 100)
        #expect(try service.modify([operation(.forceUpdate, longName(0))]).summaries == ["saved"])
        #expect(try StoreAudit.findings(path: path) == [])
    }

    /// The bytes of the file, without pages that are free.
    private func diskBytes() throws -> Int64 {
        let connection = try Connection(path: path)
        func number(_ name: String) throws -> Int64 {
            try connection.withStatement("PRAGMA \(name)") { try $0.step() ? $0.int64(at: 0) : 0 }
        }
        return try (number("page_count") - number("freelist_count")) * 4_096
    }

    @Test func recordsAndTombstonesWithTheLongestNamesFillNoMoreOfTheDiskThanTheyCount() throws {
        let service = try service(bytesMax: 1 << 30, rowBytes: 2_048)
        let zone = ZoneID(zoneName: longName(1))
        let type = String(repeating: "t", count: 255)
        try service.zones(.create, [zone])
        func modify(_ kind: RecordOperation.Kind) throws {
            for start in stride(from: 0, to: 2_000, by: 200) {
                let operations = (start..<start + 200).map { operation(kind, longName($0), type: type) }
                try service.modify(operations, zone: zone)
            }
        }
        let empty = try diskBytes()
        try modify(.create)
        #expect(try diskBytes() - empty < size(service).quotaBytes(rowBytes: 2_048))
        try modify(.forceDelete)
        #expect(try diskBytes() - empty < size(service).quotaBytes(rowBytes: 2_048))
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func zonesWithTheLongestNamesFillNoMoreOfTheDiskThanTheyCount() throws {
        let service = try service(bytesMax: 1 << 30, rowBytes: 2_048)
        let empty = try diskBytes()
        for start in stride(from: 0, to: 2_000, by: 200) {
            try service.zones(.create, (start..<start + 200).map { ZoneID(zoneName: longName($0)) })
        }
        for start in stride(from: 0, to: 1_000, by: 200) {
            let ids = (start..<start + 200).map { ZoneID(zoneName: longName($0)) }
            for id in ids { try service.modify([create("a")], zone: id) }
        }
        #expect(try diskBytes() - empty < size(service).quotaBytes(rowBytes: 2_048))
    }
}
