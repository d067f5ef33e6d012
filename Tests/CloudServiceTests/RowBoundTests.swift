import CloudStore
import CloudWire
import SQLiteTestSupport
import Testing

@testable import CloudService

/// What a write may cost all who wait for the writer, whatever was there before it.
@Suite struct RowBoundTests {
    private let folder: TemporaryFolder
    private let store: SQLiteCloudStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteCloudStore(path: folder.file("store.db"))
    }

    private func cloud(_ change: (inout ServiceLimits) -> Void) throws -> TestService {
        var limits = ServiceLimits()
        change(&limits)
        let cloud = TestService(store: store, limits: limits)
        try cloud.zones(.create)
        return cloud
    }

    private func numbers(_ count: Int) -> Field {
        Field(.list(.int64List, (0..<count).map { .int64(Int64($0)) }))
    }

    private func error(_ body: () throws -> Void) -> WireError? {
        #expect(throws: WireError.self, performing: body)
    }

    @Test func aRequestThatRemovesTooManyIndexEntriesIsRefusedWhole() throws {
        let cloud = try cloud { $0.rowsWrittenMax = 500 }
        for name in ["a", "b", "c"] { try cloud.modify([operation(.create, name, ["list": numbers(200)])]) }
        let all = ["a", "b", "c"].map { operation(.forceDelete, $0) }
        #expect(error { try cloud.modify(all) }?.reason?.contains("more than 500 rows") == true)
        let emptied = ["a", "b", "c"].map { operation(.forceUpdate, $0, ["list": numbers(1)]) }
        #expect(error { try cloud.modify(emptied) }?.ckErrorCode == 27)
        #expect(try cloud.lookup(["a", "b", "c"]).summaries == ["saved", "saved", "saved"])
        for one in all { #expect(try cloud.modify([one]).summaries == ["deleted"]) }
    }

    @Test func aRequestThatChangesTooManyBytesIsRefusedWholeAndEachOfItsRecordsIsNot() throws {
        let cloud = try cloud { $0.changedBytesMax = 25_000 }
        let text = Field(.string(String(repeating: "x", count: 10_000)))
        let names = ["a", "b", "c"]
        for name in names { try cloud.modify([operation(.create, name, ["text": text])]) }
        let changes = names.map { operation(.forceUpdate, $0, ["n": Field(.int64(1))]) }
        let refusal = error { try cloud.modify(changes) }
        #expect(refusal?.ckErrorCode == 27)
        #expect(refusal?.reason?.contains("bytes; 25000 are allowed") == true)
        #expect(try cloud.modify(Array(changes.prefix(2))).summaries == ["saved", "saved"])
        // What is not changed is not counted: new records, refused ones, and deletions.
        let others = names.map { operation(.create, $0) } + [operation(.create, "d", ["text": text])]
        #expect(
            try cloud.modify(others, atomic: false).summaries == [
                "CONFLICT", "CONFLICT", "CONFLICT", "saved",
            ])
        #expect(try cloud.modify(names.map { operation(.forceDelete, $0) }).summaries.count == 3)
        let large = Field(.string(String(repeating: "x", count: 30_000)))
        try cloud.modify([operation(.create, "large", ["text": large])])
        #expect(
            try cloud.modify([operation(.forceUpdate, "large", ["n": Field(.int64(1))])]).summaries == [
                "saved"
            ])
    }

    @Test func aDeletionThatTakesTooManyIndexEntriesAlongIsRefusedWholeAndItsPartsAreNot() throws {
        let cloud = try cloud { $0.rowsWrittenMax = 500 }
        try cloud.modify([operation(.create, "parent")])
        let names = ["a", "b", "c"]
        for name in names {
            try cloud.modify([
                operation(
                    .create, name, ["list": numbers(200), "to": reference("parent", .deleteSelf)])
            ])
        }
        #expect(error { try cloud.modify([operation(.forceDelete, "parent")]) }?.ckErrorCode == 27)
        #expect(try cloud.lookup(["parent"]).summaries == ["saved"])
        for name in names + ["parent"] { try cloud.modify([operation(.forceDelete, name)]) }
        #expect(try cloud.lookup(["parent"]).summaries == ["NOT_FOUND"])
    }

    @Test func aRequestWithTooManyReferencesIsRefused() throws {
        let cloud = try cloud { $0.referencesOfRequestMax = 5 }
        func saves(_ count: Int) -> [RecordOperation] {
            (0..<count).map { operation(.forceUpdate, "r\($0)", ["to": reference("t\($0)", .deleteSelf)]) }
        }
        #expect(error { try cloud.modify(saves(6)) }?.reason?.contains("6 references") == true)
        try cloud.modify((0..<5).map { operation(.create, "t\($0)") })
        #expect(try cloud.modify(saves(5)).summaries == Array(repeating: "saved", count: 5))
    }

    /// Each of many targets may have as many records as one may, and all of them would be counted.
    @Test(arguments: [true, false]) func referencesAreCountedSoFarForAllTargetsTogether(inMemory: Bool) throws
    {
        var limits = ServiceLimits()
        limits.referencesCountedMax = 20
        let cloud = TestService(store: inMemory ? MemoryCloudStore() : store, limits: limits)
        try cloud.zones(.create)
        try cloud.modify((0..<3).map { operation(.create, "t\($0)") })
        for target in 0..<3 {
            for number in 0..<8 {
                let fields = ["to": reference("t\(target)", .deleteSelf)]
                #expect(
                    try cloud.modify([operation(.create, "r\(target)-\(number)", fields)]).summaries == [
                        "saved"
                    ])
            }
        }
        let all = (0..<3).map { operation(.create, "n\($0)", ["to": reference("t\($0)", .deleteSelf)]) }
        #expect(error { try cloud.modify(all) }?.ckErrorCode == 27)
        for one in all { #expect(try cloud.modify([one]).summaries == ["saved"]) }
    }
}
