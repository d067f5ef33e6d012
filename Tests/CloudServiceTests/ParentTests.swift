import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// No record is its own ancestor, and none has more ancestors than the limit.
@Suite struct ParentTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func cloud(
        _ kind: StoreKind, _ change: (inout ServiceLimits) -> Void = { _ in }
    ) throws -> (cloud: TestService, store: any CloudStore) {
        var limits = ServiceLimits()
        change(&limits)
        let store = try kind.make(in: folder)
        let cloud = TestService(store: store, limits: limits)
        try cloud.zones(.create)
        return (cloud, store)
    }

    private func away(_ name: String, tag: String? = nil) -> RecordOperation {
        var operation = operation(tag == nil ? .forceUpdate : .update, name, tag: tag)
        operation.record.takesParentAway = true
        return operation
    }

    /// A record below another, and so on: the first is the top.
    private func line(_ names: String...) -> [RecordOperation] {
        names.indices.map { operation(.forceUpdate, names[$0], parent: $0 > 0 ? names[$0 - 1] : nil) }
    }

    @Test(arguments: StoreKind.allCases) func noRecordIsItsOwnAncestor(_ kind: StoreKind) throws {
        let (cloud, _) = try cloud(kind)
        for database in ["private", "public"] {
            let zone = database == "public" ? nil : TestService.zone
            func modify(_ operations: [RecordOperation]) throws -> [RecordResult] {
                try cloud.modify(operations, zone: zone, atomic: false, database: database)
            }
            let own = try modify([operation(.create, "own", parent: "own"), operation(.create, "free")])
            #expect(own.summaries == ["BAD_REQUEST", "saved"])
            #expect(own[0].error?.ckErrorCode == 12 && own[0].error?.recordName == "own")
            // Those of one request, in any order; what leads into the circle fails with its parent.
            let circle = [
                operation(.forceUpdate, "leaf", parent: "x"), operation(.forceUpdate, "x", parent: "y"),
                operation(.forceUpdate, "y", parent: "z"), operation(.forceUpdate, "z", parent: "x"),
                operation(.forceUpdate, "other", parent: "free"),
            ]
            let words = ["VALIDATING_REFERENCE_ERROR"] + Array(repeating: "BAD_REQUEST", count: 3) + ["saved"]
            #expect(try modify(circle).summaries == words)
            #expect(try modify(circle.reversed()).summaries == words.reversed())
            // Over two requests, through records that the second one doesn't name.
            #expect(try modify(line("a", "b", "c", "d")).summaries == Array(repeating: "saved", count: 4))
            let closed = try modify([operation(.forceUpdate, "a", parent: "d"), operation(.create, "new")])
            #expect(closed.summaries == ["BAD_REQUEST", "saved"])
            #expect(closed[0].error?.reason?.contains("the record 'a' would be its own ancestor") == true)
            #expect(try modify([operation(.forceUpdate, "d", parent: "a")]).summaries == ["saved"])
        }
    }

    @Test(arguments: StoreKind.allCases) func anAtomicRequestWithACircleIsRefusedWhole(_ kind: StoreKind)
        throws
    {
        let (cloud, _) = try cloud(kind)
        try cloud.modify(line("a", "b"))
        let results = try cloud.modify([operation(.create, "new"), operation(.forceUpdate, "a", parent: "b")])
        #expect(results.summaries == ["ATOMIC_ERROR", "BAD_REQUEST"])
        #expect(try cloud.lookup(["new"]).summaries == ["NOT_FOUND"])
    }

    /// The parents that count are those when the request is done.
    @Test(arguments: StoreKind.allCases) func aParentThatIsTakenAwayInTheSameRequestClosesNoCircle(
        _ kind: StoreKind
    ) throws {
        let (cloud, _) = try cloud(kind)
        try cloud.modify(line("a", "b", "c"))
        // The ends change places, in either order.
        #expect(
            try cloud.modify([operation(.forceUpdate, "a", parent: "c"), away("b")]).summaries == [
                "saved", "saved",
            ])
        #expect(
            try cloud.modify([away("a"), operation(.forceUpdate, "b", parent: "a")]).summaries == [
                "saved", "saved",
            ])
        // Where the other save fails, its record hangs where it hung.
        let results = try cloud.modify(
            [operation(.forceUpdate, "a", parent: "c"), away("b", tag: "1.1")], atomic: false)
        #expect(results.summaries == ["BAD_REQUEST", "CONFLICT"])
        // And where a save fails for another reason, it closes no circle.
        try cloud.modify([operation(.create, "d")])
        let stale = try cloud.modify(
            [operation(.update, "a", tag: "1.1", parent: "d"), operation(.forceUpdate, "d", parent: "c")],
            atomic: false)
        #expect(stale.summaries == ["CONFLICT", "saved"])
        // A deleted record is nobody's parent any more.
        try cloud.modify([operation(.forceDelete, "d")])
        #expect(
            try cloud.modify([operation(.create, "d"), operation(.forceUpdate, "a", parent: "d")]).summaries
                == ["saved", "saved"])
    }

    /// Earlier versions took circles.
    @Test(arguments: StoreKind.allCases) func whatIsInACircleAlreadyCanBeChangedAndFreed(_ kind: StoreKind)
        throws
    {
        let (cloud, store) = try cloud(kind)
        try cloud.modify(line("a", "b"))
        let zone = ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos")
        let key = RecordKey(zone: zone, recordName: "a")
        var wanted = StoreLoad()
        wanted.records = [key]
        let loaded = try store.read { [wanted] in try $0.load(wanted) }
        var row = try #require(loaded.records[key])
        row.parent = "b"
        var changes = StoreChanges()
        changes.records = [row]
        changes.addedReferences = [
            ReferenceRow(target: RecordKey(zone: zone, recordName: "b"), sourceName: "a", kind: .parent)
        ]
        try store.write { [changes] in try $0.apply(changes) }
        let changed = try cloud.modify([
            operation(.forceUpdate, "a", ["n": Field(.int64(1))]), operation(.forceUpdate, "b", parent: "a"),
            operation(.create, "leaf", parent: "b"),
        ])
        #expect(changed.summaries == ["saved", "saved", "saved"])
        #expect(try cloud.modify([away("a")]).summaries == ["saved"])
        #expect(try cloud.modify([operation(.forceUpdate, "a", parent: "b")]).summaries == ["BAD_REQUEST"])
    }

    @Test(arguments: StoreKind.allCases) func ancestorsAreCountedUpToTheLimit(_ kind: StoreKind) throws {
        let (cloud, _) = try cloud(kind) {
            $0.ancestorsMax = 3
            $0.ancestorsOfRequestMax = 5
        }
        #expect(try cloud.modify(line("a", "b", "c", "d")).summaries == Array(repeating: "saved", count: 4))
        let one = try cloud.modify([operation(.create, "e", parent: "d")])
        #expect(one.summaries == ["BAD_REQUEST"])
        #expect(one[0].error?.reason?.contains("the record 'e' would have more than 3 ancestors") == true)
        let atOnce = try cloud.modify(line("1", "2", "3", "4", "5"), atomic: false)
        #expect(atOnce.summaries == ["saved", "saved", "saved", "saved", "BAD_REQUEST"])
        // A circle that is longer is refused too.
        #expect(
            try cloud.modify([operation(.forceUpdate, "a", parent: "d")]).summaries == ["BAD_REQUEST"])
        let tooMany = #expect(throws: WireError.self) {
            try cloud.modify([
                operation(.create, "x", parent: "d"), operation(.create, "y", parent: "4"),
            ])
        }
        #expect(tooMany?.ckErrorCode == 27 && tooMany?.reason?.contains("more than 5 ancestors") == true)
        #expect(try cloud.modify([operation(.create, "x", parent: "c")]).summaries == ["saved"])
    }
}
