import CloudStore
import CloudWire
import Dispatch
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// Indexes of records that were there before the index.
@Suite struct IndexWorkTests {
    private func change(_ service: CloudService, _ store: any CloudStore, _ build: (inout RecordType) -> Void)
        throws
    {
        try store.write { writer in
            var schema = try service.schemas.schema(in: writer)
            build(&schema.recordTypes["todo", default: RecordType()])
            var changes = StoreChanges()
            changes.schema = schema.row(version: service.schemaMaintenance.random.next())
            try service.writing.apply(changes, to: writer)
        }
    }

    private func fill(_ cloud: TestService, _ count: Int) throws {
        try cloud.zones(.create)
        for start in stride(from: 0, to: count, by: 200) {
            let operations = (start..<min(count, start + 200)).map { number in
                operation(
                    .create, "r\(number)",
                    [
                        "rank": Field(.int64(Int64(number % 7))),
                        "text": Field(.string("word\(number % 3) all")),
                    ])
            }
            try cloud.modify(operations)
        }
    }

    private func ask(_ cloud: TestService, _ field: String) throws -> Int {
        var count = 0
        var marker: String?
        repeat {
            let query = RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: field)])
            let page = try cloud.ask(
                "records/query",
                RecordsQueryRequest(query: query, zoneID: TestService.zone, continuationMarker: marker),
                as: RecordsQueryResponse.self)
            count += page.records.count
            marker = page.continuationMarker
        } while marker != nil
        return count
    }

    private func audit(_ store: any CloudStore) throws -> [String] {
        try IndexAudit.findings(store, zones: ["todos", "_defaultZone"])
    }

    /// A server that is only read hears of an index that a command asks for when somebody wants to use it.
    @Test func anIndexAddedByAnotherProcessIsBuiltByTheQueriedProcess() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try fill(cloud, 1_000)
        try change(cloud.service, store) { $0.fields["rank"]?.indexes = [] }
        while try cloud.service.keepUp() {}
        try change(TestService(store: store, seed: 2).service, store) {
            $0.fields["rank"]?.indexes = .sortable
        }
        let thread = CloudServiceThread(cloud.service)
        let query = RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: "rank")])
        let request = cloud.request(
            "records/query", try RecordsQueryRequest(query: query, zoneID: TestService.zone).json())
        let done = DispatchSemaphore(value: 0)
        let status = Lock(0)
        for _ in 0..<2_000 where status.withLock({ $0 }) != 200 {
            thread.send(request) { response in
                status.withLock { $0 = response.status }
                done.signal()
            }
            done.wait()
        }
        thread.stop()
        #expect(status.withLock { $0 } == 200)
    }

    @Test(arguments: StoreKind.allCases) func anIndexIsBuiltInStepsAndQueriesGetTryAgainUntilThen(
        _ kind: StoreKind
    ) throws {
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        let cloud = TestService(store: store)
        try fill(cloud, 1_000)
        try change(cloud.service, store) { $0.fields["rank"]?.indexes = [] }
        while try cloud.service.keepUp() {}
        #expect(try audit(store) == [])
        let refused = #expect(throws: WireError.self) { try ask(cloud, "rank") }
        #expect(refused?.reason?.contains("not marked sortable") == true)
        try change(cloud.service, store) { $0.fields["rank"]?.indexes = .sortable }
        var steps = 0
        while true {
            // Somebody who writes meanwhile is in the index at once.
            try cloud.modify([operation(.forceUpdate, "r\(900 + steps)", ["rank": Field(.int64(3))])])
            do {
                #expect(try ask(cloud, "rank") == 1_000)
                break
            } catch let error as WireError {
                #expect(error.serverErrorCode == .tryAgainLater && error.reason?.contains("'rank'") == true)
                #expect(error.retryAfterSeconds ?? 0 > 0)
            }
            _ = try cloud.service.keepUp()
            #expect(try kind.findings(in: folder) == [])
            steps += 1
            try #require(steps < 20)
        }
        #expect(steps >= 3)
        #expect(try audit(store) == [])
        #expect(try store.read { try $0.indexWork(typesMax: 1) } == [])
    }

    @Test func workContinuesWhereTheProcessDied() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteCloudStore(path: folder.file("store.db"))
        let cloud = TestService(store: store)
        try fill(cloud, 1_000)
        try change(cloud.service, store) { $0.fields["text"]?.indexes = [.queryable] }
        _ = try cloud.service.keepUp()
        let row = try #require(try store.read { try $0.indexWork(typesMax: 1) }.first)
        let position = try #require(try IndexWork(row).position)
        // Another process opens the file; nothing was said to it.
        let next = TestService(store: try SQLiteCloudStore(path: store.path))
        _ = try next.service.keepUp()
        let later = try #require(try store.read { try $0.indexWork(typesMax: 1) }.first)
        #expect(position < (try #require(try IndexWork(later).position)))
        while try next.service.keepUp() {}
        #expect(try store.read { try $0.indexWork(typesMax: 1) } == [])
        #expect(try audit(store) == [])
    }

    @Test func sortingByWhatIsFoundByValueNeedsOnlyTheRecordsWithoutOne() throws {
        let type = RecordType()
        var (before, after) = (type, type)
        before.fields["rank"] = FieldDefinition(.int64, indexes: .queryable)
        after.fields["rank"] = FieldDefinition(.int64, indexes: [.queryable, .sortable])
        let work = IndexWork("todo", from: before, to: after, left: nil)
        #expect(work?.missing == [IndexPiece(field: "rank", kind: .nulls)])
        #expect(IndexWork("todo", from: after, to: before, left: work)?.missing == [])
        after.fields["rank"]?.type = .double
        #expect(IndexWork("todo", from: before, to: after, left: nil)?.missing.count == 2)
        #expect(IndexWork("todo", from: after, to: after, left: nil) == nil)
    }
}
