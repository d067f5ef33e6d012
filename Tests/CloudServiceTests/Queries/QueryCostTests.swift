import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing
import UseCounter

@testable import CloudService

/// What a stranger's query may cost, and what its answer may tell.
@Suite struct QueryCostTests {
    private func page(
        _ cloud: TestService, _ query: RecordQuery, limit: Int64? = nil, marker: String? = nil,
        database: String = "private", zoneWide: Bool? = nil, zone: ZoneID? = nil
    ) throws -> RecordsQueryResponse {
        var request = RecordsQueryRequest(
            query: query, zoneID: zone, resultsLimit: limit, continuationMarker: marker)
        request.zoneWide = zoneWide
        return try cloud.ask(
            "records/query", request, as: RecordsQueryResponse.self, database: database)
    }

    private func names(
        _ cloud: TestService, _ query: RecordQuery, limit: Int64? = nil, database: String = "private"
    ) throws -> (names: [String?], pages: Int) {
        var names: [String?] = []
        var pages = 0
        var marker: String?
        repeat {
            let page = try page(cloud, query, limit: limit, marker: marker, database: database)
            names += page.records.map(\.recordName)
            marker = page.continuationMarker
            pages += 1
        } while marker != nil
        return (names, pages)
    }

    private func query(_ filters: [RecordFilter], sorts: [RecordSort] = []) -> RecordQuery {
        RecordQuery(recordType: "todo", filterBy: filters, sortBy: sorts)
    }

    /// Each of the record's values is found by an entry of its own, and the record is looked at once.
    @Test func aListWithAllOfManyValuesIsFoundOnceAndSoon() throws {
        UseCounter.attach()
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        let list = Field(.list(.int64List, (0..<3_000).map { .int64(Int64($0)) }))
        // Most of them in front of those that the list has.
        let values = (-400..<100).map { FieldValue.int64(Int64($0)) }
        #expect(try cloud.modify([operation(.create, "a", ["numbers": list])], zone: nil)[0].record != nil)
        let any = RecordFilter(
            comparator: "LIST_CONTAINS_ANY", fieldName: "numbers",
            fieldValue: Field(.list(.int64List, values)))
        let (found, use) = try UseCounter.counting { try names(cloud, query([any])) }
        #expect(found.names == ["a"])
        // To look at the record once for each entry would read its list a hundred times.
        #expect(use.rowsRead <= 2 * values.count && use.steps <= 200 * values.count, "\(use)")
        // The row is read for each of its entries, and its list is decoded once: 19 MB, or 70 MB if for each.
        #expect(!UseCounter.countsMemory || use.allocatedBytes < 38_500_000, "\(use)")
    }

    @Test func aRecordWithSeveralOfTheWordsInSeveralFieldsIsFoundOnce() throws {
        let cloud = TestService()
        let fields = ["title": text("red green blue"), "body": text("green, and red again")]
        try cloud.modify(
            [operation(.create, "a", fields), operation(.create, "b", ["body": text("blue")])], zone: nil)
        let any = RecordFilter(
            comparator: "CONTAINS_ANY_TOKENS", fieldName: nil, fieldValue: text("blue red green"))
        #expect(try names(cloud, query([any]), limit: 1).names.compactMap(\.self).sorted() == ["a", "b"])
    }

    /// What the creation of a record with a long text uses.
    private func useOfLongText(watchersCount: Int, wordsCount: Int) throws -> CountedUse {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        // Too long for a string without memory of its own.
        func word(_ number: Int) -> String { "a word of the text ".filter(\.isLetter) + "\(number % 3)x" }
        let filters = (0..<30).map {
            RecordFilter(
                comparator: "CONTAINS_ALL_TOKENS", fieldName: "title", fieldValue: text(word($0)))
        }
        for number in 0..<watchersCount { try cloud.watch("watch\(number)", filters: filters, on: [.create]) }
        let long = (0..<wordsCount).map(word).joined(separator: " ")
        let (_, use) = try UseCounter.counting {
            try cloud.change([operation(.create, "a", ["title": text(long)])])
        }
        #expect(try cloud.collection().count == watchersCount)
        return use
    }

    /// The words of a text are worked out once, and not for each watcher.
    @Test func aLongTextCostsAWriteLittleHoweverManyWatchItsWords() throws {
        let wordsCount = 10_000
        let one = try useOfLongText(watchersCount: 1, wordsCount: wordsCount)
        let many = try useOfLongText(watchersCount: 31, wordsCount: wordsCount)
        guard UseCounter.countsMemory else { return }
        // A watcher uses less than the words would.
        #expect(many.allocatedBytes - one.allocatedBytes < 30 * 16 * wordsCount, "\(one) \(many)")
    }

    /// Large records end a page early: each counts as many rows.
    @Test func aPageReadsALimitedNumberOfBytesAndTheNextContinues() throws {
        var limits = ServiceLimits()
        limits.queryRowsExaminedMax = 100
        limits.querySearch.rowsInZoneMin = 1
        let cloud = TestService(limits: limits)
        let large = Field(.bytes([UInt8](repeating: 7, count: 200_000)))
        for number in 0..<12 {
            let fields = ["rank": Field(.int64(Int64(number))), "large": large]
            try cloud.modify([operation(.create, "r\(number)", fields)], zone: nil)
        }
        let last = RecordFilter(
            comparator: "NOT_EQUALS", fieldName: "rank", fieldValue: Field(.int64(3)))
        for sorts in [[], [RecordSort(fieldName: "rank")]] {
            let found = try names(cloud, query([last], sorts: sorts))
            #expect(found.names.count == 11 && Set(found.names).count == 11)
            #expect(found.pages > 2, "\(sorts.count): \(found.pages)")
        }
    }

    @Test func markersAreOpaque() throws {
        var schema = RandomQueryTests.schema
        schema.recordTypes["todo"]?.grants = [
            SystemRole.signedIn: .create, SystemRole.creator: [.read, .write],
        ]
        var limits = ServiceLimits()
        limits.queryRowsExaminedMax = 3
        limits.querySearch.rowsInZoneMin = 1
        let store = MemoryCloudStore()
        var changes = StoreChanges()
        changes.schema = schema.row(version: 1)
        try store.write { try $0.apply(changes) }
        let cloud = TestService(store: store, limits: limits)
        for number in 0..<10 {
            let fields = ["text": text("hidden value \(number)")]
            try cloud.modify(
                [operation(.create, "hidden-name-\(number)", fields)], zone: nil, database: "public",
                token: "bob")
        }
        try cloud.modify([operation(.create, "z", ["text": text("x")])], zone: nil, database: "public")
        for sorts in [[], [RecordSort(fieldName: "text")]] {
            let first = try page(cloud, query([], sorts: sorts), database: "public")
            let marker = try #require(first.continuationMarker)
            let content = String(decoding: try #require(Base64.decoded(marker)), as: UTF8.self)
            #expect(!content.contains("hidden"), "\(content)")
            #expect(try names(cloud, query([], sorts: sorts), database: "public").names == ["z"])
        }
    }

    @Test func moreValuesInMoreZonesThanAreLookedForIsRefused() throws {
        var limits = ServiceLimits()
        limits.queryProbesMax = 20
        let cloud = TestService(limits: limits)
        try cloud.zones(.create, (0..<4).map { ZoneID(zoneName: "z\($0)") })
        try cloud.modify([operation(.create, "a", ["rank": Field(.int64(1))])], zone: nil)
        func isIn(_ count: Int) -> RecordQuery {
            let values = (0..<count).map { FieldValue.int64(Int64($0 * 2)) }
            return query([
                RecordFilter(
                    comparator: "IN", fieldName: "rank", fieldValue: Field(.list(.int64List, values)))
            ])
        }
        #expect(try page(cloud, isIn(20)).records.isEmpty)
        #expect(try page(cloud, isIn(4), zoneWide: true).records.isEmpty)
        let refused = #expect(throws: WireError.self) { try page(cloud, isIn(5), zoneWide: true) }
        #expect(refused?.reason?.contains("LimitExceeded") == true)
    }

    /// A record that the disk has damaged is found by nothing that is in it, and can be deleted.
    @Test func aDamagedRecordBlocksNoOther() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        for name in ["a", "b", "c"] {
            try cloud.modify([operation(.create, name, ["rank": Field(.int64(1)), "title": text(name)])])
        }
        try cloud.watch(filters: [], on: [.delete])
        let key = RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: TestService.zone.zoneName),
            recordName: "b")
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.records = [key]
            var changes = StoreChanges()
            changes.records = try writer.load(wanted).records.values.map { row in
                var row = row
                row.fields = [9, 9, 9]
                return row
            }
            try writer.apply(changes)
        }
        let sorts = [RecordSort(fieldName: "rank"), RecordSort(fieldName: "title")]
        let found = try page(cloud, query([], sorts: sorts), zone: TestService.zone)
        #expect(found.records.compactMap(\.record?.recordName).sorted() == ["a", "c"])
        #expect(try cloud.modify([operation(.forceDelete, "b")]).summaries == ["deleted"])
    }
}
