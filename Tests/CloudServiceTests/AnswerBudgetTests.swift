import CloudStore
import CloudWire
import OwnThreads
import System
import Testing

@testable import CloudService

/// A store that counts the records that searches load.
private final class CountingStore: CloudStore {
    let loaded = Lock(0)
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.write { try body(CountingReader($0, loaded)) }
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try store.write(body)
    }
}

private struct CountingReader: ForwardingStoreWriter {
    let base: any CloudStoreWriter
    private let loaded: Lock<Int>

    init(_ base: any CloudStoreWriter, _ loaded: Lock<Int>) {
        (self.base, self.loaded) = (base, loaded)
    }

    var isInTransaction: Bool { base.isInTransaction }

    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> {
        let page = try base.find(scan)
        loaded.withLock { $0 += page.rows.count { $0.record != nil } }
        return page
    }
}

/// One request has one budget, whatever it asks for.
@Suite(.onOwnThreads) struct AnswerBudgetTests {
    /// Each takes six bytes of JSON.
    private static let controls = String(repeating: "\u{1}", count: 5_000)

    private func cloud(
        _ answerBytesMax: Int, rows: Int = 20_000, store: any CloudStore = MemoryCloudStore()
    ) throws -> TestService {
        var limits = ServiceLimits()
        limits.answerBytesMax = answerBytesMax
        limits.queryRowsExaminedMax = rows
        let cloud = TestService(store: store, limits: limits)
        try cloud.zones(.create)
        return cloud
    }

    private func save(_ count: Int, _ text: String, in cloud: TestService) throws {
        for first in stride(from: 0, to: count, by: 10) {
            let operations = (first..<min(count, first + 10)).map { number in
                let name = "r" + String(1_000 + number).dropFirst()
                return operation(
                    .create, name,
                    ["title": Field(.string(text)), "rank": Field(.int64(Int64(number)))])
            }
            let saved = try cloud.modify(operations).summaries
            #expect(saved == Array(repeating: "saved", count: operations.count))
        }
    }

    private func names(_ count: Int) -> [String] {
        (0..<count).map { "r" + String(1_000 + $0).dropFirst() }
    }

    private func batch(_ queries: [RecordsQueryRequest], in cloud: TestService) throws -> (
        pages: [RecordsQueryResponse], bytes: Int
    ) {
        let body = try RecordsQueryBatchRequest(batch: queries).json(extras: true)
        let response = cloud.service.respond(to: cloud.request("internal/records/query/batch", body))
        let answer = try cloud.read(response, as: RecordsQueryBatchResponse.self)
        return (answer.batch, response.body.count)
    }

    /// Asks until each query of a batch is at its end; returns what each found, and the largest answer.
    private func walk(_ query: RecordQuery, times: Int, in cloud: TestService) throws -> (
        found: [[String]], bytes: Int, requests: Int
    ) {
        var requests = Array(
            repeating: RecordsQueryRequest(query: query, zoneID: TestService.zone, resultsLimit: 200),
            count: times)
        var found = Array(repeating: [String](), count: times)
        var left = Array(0..<times)
        var (bytes, requestsCount) = (0, 0)
        while !left.isEmpty, requestsCount < 1_000 {
            let answer = try batch(left.map { requests[$0] }, in: cloud)
            bytes = max(bytes, answer.bytes)
            requestsCount += 1
            for (index, page) in zip(left, answer.pages) {
                found[index] += page.records.compactMap(\.recordName)
                requests[index].continuationMarker = page.continuationMarker
            }
            left = zip(left, answer.pages).filter { $1.continuationMarker != nil }.map(\.0)
        }
        return (found, bytes, requestsCount)
    }

    @Test(arguments: [false, true]) func tenQueriesOfABatchAnswerNoMoreThanOneMay(isSorted: Bool) throws {
        let cloud = try cloud(200_000)
        try save(30, Self.controls, in: cloud)
        let sorts = isSorted ? [RecordSort(fieldName: "rank")] : []
        let walk = try walk(RecordQuery(recordType: "todo", sortBy: sorts), times: 10, in: cloud)
        #expect(walk.bytes <= 200_000)
        #expect(walk.found == Array(repeating: names(30), count: 10), "\(walk.requests) requests")
    }

    @Test func tenQueriesOfABatchLookAtNoMoreRowsThanOneMay() throws {
        let store = CountingStore()
        let cloud = try cloud(16 << 20, rows: 400, store: store)
        try save(300, "x", in: cloud)
        let none = RecordFilter(
            comparator: "NOT_BEGINS_WITH", fieldName: "title", fieldValue: Field(.string("x")))
        let query = RecordQuery(
            recordType: "todo", filterBy: [none], sortBy: [RecordSort(fieldName: "rank")])
        let request = RecordsQueryRequest(query: query, zoneID: TestService.zone)
        store.loaded.withLock { $0 = 0 }
        let pages = try batch(Array(repeating: request, count: 10), in: cloud).pages
        let loaded = store.loaded.withLock { $0 }
        #expect(loaded <= 450, "ten alone would load 3,000")
        #expect(pages.allSatisfy { $0.records.isEmpty && $0.continuationMarker != nil })
        #expect(try walk(query, times: 10, in: cloud).found.allSatisfy(\.isEmpty))
    }

    @Test func aPageOfChangesHasNoMoreJSONThanAnAnswerMayHave() throws {
        let cloud = try cloud(200_000)
        try save(30, Self.controls, in: cloud)
        var (token, found): (String?, [String]) = (nil, [])
        var isMore = true
        while isMore {
            let body = try ChangesZoneRequest(zones: [
                .init(zoneID: TestService.zone, syncToken: token, options: ChangesZoneOptions())
            ]).json(extras: true)
            let response = cloud.service.respond(to: cloud.request("changes/zone", body))
            #expect(response.body.count <= 200_000)
            let answer = try cloud.read(response, as: ChangesZoneResponse.self)
            guard case .changes(let page)? = answer.zones.first else { throw CancellationError() }
            #expect(!page.records.isEmpty)
            found += page.records.compactMap(\.recordName)
            (token, isMore) = (page.syncToken, page.moreComing == true)
        }
        #expect(found == names(30))
    }

    @Test func ofManyZonesWithOneLargeRecordEachNoMoreIsLoadedThanAnAnswerMayHave() throws {
        let cloud = try cloud(200_000)
        let zones = (0..<20).map { ZoneID(zoneName: "zone\($0)") }
        let text = Field(.string(String(repeating: "x", count: 40_000)))
        for zone in zones {
            try cloud.zones(.create, [zone])
            try cloud.modify([operation(.create, "r", ["title": text])], zone: zone)
        }
        let body = try ChangesZoneRequest(
            zones: zones.map { .init(zoneID: $0, syncToken: nil, options: ChangesZoneOptions()) }
        ).json(extras: true)
        let response = cloud.service.respond(to: cloud.request("changes/zone", body))
        #expect(response.body.count <= 200_000)
        let answer = try cloud.read(response, as: ChangesZoneResponse.self)
        let more = answer.zones.count {
            if case .changes(let page) = $0 { page.moreComing == true } else { false }
        }
        #expect(more >= 15, "the others are told to ask again")
    }

    /// Each zone has one that may be the first: they are compared, and only as many are answered as fit.
    @Test func aSortedQueryOverManyZonesAnswersNoMoreThanOneMay() throws {
        let cloud = try cloud(100_000)
        for number in 0..<20 {
            let zone = ZoneID(zoneName: "zone\(number)")
            try cloud.zones(.create, [zone])
            let fields = [
                "title": Field(.string(Self.controls)), "rank": Field(.int64(Int64(number * 7 % 20))),
            ]
            try cloud.modify([operation(.create, "r\(number)", fields)], zone: zone)
        }
        var request = RecordsQueryRequest(
            query: RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: "rank")]), resultsLimit: 200
        )
        request.zoneWide = true
        var (ranks, requests) = ([Field](), 0)
        repeat {
            let response = cloud.service.respond(
                to: cloud.request("records/query", try request.json(extras: true)))
            #expect(response.body.count <= 100_000)
            let page = try cloud.read(response, as: RecordsQueryResponse.self)
            ranks += page.records.compactMap { $0.record?.fields["rank"] }
            (request.continuationMarker, requests) = (page.continuationMarker, requests + 1)
        } while request.continuationMarker != nil && requests < 50
        #expect(ranks.map(\.value) == (0..<20).map { .int64($0) })
        #expect(requests < 21, "more than one record fits")
    }

    @Test func aRecordLargerThanAnAnswerMayBeIsAnsweredAlone() throws {
        let cloud = try cloud(20_000)
        try save(3, Self.controls, in: cloud)
        let walk = try walk(RecordQuery(recordType: "todo"), times: 2, in: cloud)
        #expect(walk.found == Array(repeating: names(3), count: 2))
        #expect((30_000..<40_000).contains(walk.bytes), "one record an answer")
        let page = try cloud.changes()
        #expect(page.records.count == 1 && page.moreComing == true)
    }

    @Test func aLookupWhoseJSONIsTooLargeIsAskedForInParts() throws {
        let cloud = try cloud(100_000)
        try save(10, Self.controls, in: cloud)
        let error = try #require(throws: WireError.self) { try cloud.lookup(names(10)) }
        #expect(error.ckErrorCode == 27)
        #expect(try cloud.lookup(names(3)).summaries == ["saved", "saved", "saved"])
    }

    @Test func aWriteWithATooLargeResponseIsDoneAndReportedInBrief() throws {
        let cloud = try cloud(100_000)
        try save(10, Self.controls, in: cloud)
        let operations = names(10).map { operation(.create, $0) } + [operation(.create, "new")]
        let body = try RecordsModifyRequest(
            operations: operations, zoneID: TestService.zone, atomic: false
        ).json(extras: true)
        let response = cloud.service.respond(to: cloud.request("records/modify", body))
        #expect(response.body.count <= 100_000)
        let answer = try cloud.read(response, as: RecordsModifyResponse.self)
        #expect(answer.records.summaries == Array(repeating: "CONFLICT", count: 10) + ["saved"])
        #expect(try cloud.lookup(["new"]).summaries == ["saved"])
    }
}
