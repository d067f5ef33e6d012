import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// A store that counts what is read of records on the writer, and whose reads a test can let fail.
private final class WatchedStore: CloudStore {
    let bytesReadByWriter = Lock(0)
    let readsFail = Lock(false)
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        if readsFail.withLock({ $0 }) { throw CloudStoreError.failed(path: "store", reason: "unreadable") }
        return try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try store.write { try body(WatchedWriter(base: $0, bytesRead: bytesReadByWriter)) }
    }
}

private struct WatchedWriter: ForwardingStoreWriter {
    let base: any CloudStoreWriter
    let bytesRead: Lock<Int>

    func load(_ wanted: StoreLoad) throws -> StoreLoaded {
        let loaded = try base.load(wanted)
        bytesRead.withLock { $0 += loaded.records.values.reduce(0) { $0 + $1.fields.count } }
        return loaded
    }
}

/// A refused write shows the server's record, and doesn't hold up the other writes for it.
@Suite struct ConflictTests {
    private let store: WatchedStore
    private let cloud: TestService
    private let saved: WireRecord

    init() throws {
        store = WatchedStore()
        cloud = TestService(store: store)
        try cloud.zones(.create)
        let text = Field(.string(String(repeating: "x", count: 10_000)))
        saved = try #require(try cloud.modify([operation(.create, "a", ["text": text])])[0].record)
        store.bytesReadByWriter.withLock { $0 = 0 }
    }

    private var refused: [RecordOperation] {
        [
            operation(.create, "a"), operation(.update, "a", tag: "other"),
            operation(.replace, "a", tag: "other"), operation(.delete, "a", tag: "other"),
        ]
    }

    @Test func aRefusedWriteReadsNoFieldsOnTheWriter() throws {
        for operation in refused {
            let error = try #require(try cloud.modify([operation])[0].error)
            #expect(error.serverErrorCode == .conflict && error.serverRecord == saved)
        }
        #expect(store.bytesReadByWriter.withLock { $0 } == 0)
        let change = operation(.update, "a", tag: saved.recordChangeTag, ["n": Field(.int64(1))])
        #expect(try cloud.modify([change])[0].record?.fields.keys.sorted() == ["n", "text"])
        #expect(store.bytesReadByWriter.withLock { $0 } > 10_000)
    }

    @Test func aConflictWithAnUnreadableRecordIsReportedWithoutIt() throws {
        store.readsFail.withLock { $0 = true }
        for operation in refused {
            let error = try #require(try cloud.modify([operation])[0].error)
            #expect(error.serverErrorCode == .conflict && error.serverRecord == nil)
        }
        let both = [operation(.create, "a"), operation(.create, "b")]
        #expect(try cloud.modify(both, atomic: false).summaries == ["CONFLICT", "saved"])
        store.readsFail.withLock { $0 = false }
        #expect(try cloud.lookup(["b"]).summaries == ["saved"])
    }

    @Test func theConflictsOfAGroupShowTheRecordsAsTheyAreAfterIt() throws {
        func request(_ operation: RecordOperation) throws -> WireRequest {
            let message = RecordsModifyRequest(operations: [operation], zoneID: TestService.zone)
            return cloud.request("records/modify", try message.json())
        }
        _ = cloud.service.begin(try request(operation(.create, "a")))
        _ = cloud.service.begin(try request(operation(.forceUpdate, "a", ["n": Field(.int64(1))])))
        let answers = try cloud.service.commitGroup().map {
            try cloud.read($0.response, as: RecordsModifyResponse.self).records[0]
        }
        #expect(answers[0].error?.serverRecord == answers[1].record)
        #expect(answers[1].record?.fields["n"] == Field(.int64(1)))
    }
}
