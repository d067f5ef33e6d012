import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

/// What a record may refer to, and what becomes of it when that fails.
@Suite struct ReferenceRulesTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    /// Each way in which a record hangs on another.
    private static func children(of target: String) -> [RecordOperation] {
        [
            operation(.create, "bySelf", ["list": reference(target, .deleteSelf)]),
            operation(.create, "byValidate", ["list": reference(target, .validate)]),
            operation(.create, "byParent", parent: target),
        ]
    }

    @Test func withoutAtomicityAFailedParentFailsItsChildrenInAnyOrder() throws {
        try cloud.modify([operation(.create, "there")])
        for target in ["there", "absent"] {
            let parent =
                target == "there" ? operation(.create, target) : operation(.update, target, tag: "1.1")
            for isFirst in [true, false] {
                let children = Self.children(of: target)
                let operations = isFirst ? [parent] + children : children + [parent]
                let results = try cloud.modify(operations, atomic: false)
                #expect(
                    results.map(\.recordName) == operations.map(\.record.recordName), "the request's order")
                let failed = results.filter { $0.recordName != target }
                #expect(failed.summaries == Array(repeating: "VALIDATING_REFERENCE_ERROR", count: 3))
                // 22 is sent again by our framework when the parent is saved; 31 has nothing to hang on.
                #expect(failed.allSatisfy { $0.error?.ckErrorCode == (target == "there" ? 22 : 31) })
            }
        }
        #expect(
            try cloud.lookup(["bySelf", "byValidate", "byParent"]).summaries.allSatisfy { $0 == "NOT_FOUND" })
    }

    @Test func aParentSavedInTheSameRequestAllowsItsChildrenInAnyOrder() throws {
        for database in ["private", "public"] {
            let zone = database == "public" ? nil : TestService.zone
            let operations =
                [operation(.create, "grandchild", ["up": reference("byParent", .deleteSelf)])]
                + Self.children(of: "list") + [operation(.create, "list")]
            let results = try cloud.modify(operations, zone: zone, atomic: false, database: database)
            #expect(results.summaries == Array(repeating: "saved", count: 5))
            #expect(results.map(\.recordName) == operations.map(\.record.recordName))
        }
    }

    @Test func aChildThatHungOnItsParentBeforeDoesNotFailWithIt() throws {
        try cloud.modify([operation(.create, "list")] + Self.children(of: "list"))
        let results = try cloud.modify(
            [
                operation(.update, "list", tag: "1.1"),
                operation(.forceUpdate, "bySelf", ["n": Field(.int64(1))]),
                operation(.forceUpdate, "byParent", ["n": Field(.int64(1))]),
            ], atomic: false)
        #expect(results.summaries == ["CONFLICT", "saved", "saved"])
    }

    @Test func aRecordWithTwoOwnersIsDeletedWithTheFirst() throws {
        try cloud.modify([
            operation(.create, "x"), operation(.create, "y"),
            operation(.create, "both", ["x": reference("x", .deleteSelf), "y": reference("y", .deleteSelf)]),
        ])
        let token = try cloud.changes().syncToken
        try cloud.modify([operation(.forceDelete, "y")])
        #expect(try cloud.changes(token).records.feed == ["y-", "both-"])
        #expect(try cloud.modify([operation(.forceDelete, "x")]).summaries == ["deleted"])
    }

    @Test(arguments: [Reference.Action.none, .validate, .deleteSelf])
    func noReferenceLeavesItsZoneAndTheErrorNamesTheField(_ action: Reference.Action) throws {
        let other = Reference(recordName: "x", zoneID: ZoneID(zoneName: "other"), action: action)
        for value in [FieldValue.reference(other), .list(.referenceList, [.reference(other)])] {
            let result = try cloud.modify([operation(.create, "a", ["list": Field(value)])])[0]
            #expect(result.error?.serverErrorCode == .badRequest)
            #expect(result.error?.reason?.contains("'list'") == true)
        }
        var child = operation(.create, "a")
        child.record.parent = Reference(recordName: "x", zoneID: ZoneID(zoneName: "other"))
        let result = try cloud.modify([child])[0]
        #expect(
            result.error?.serverErrorCode == .badRequest && result.error?.reason?.contains("'parent'") == true
        )
    }

    @Test func onlySoManyRecordsHangOnOne() throws {
        var limits = ServiceLimits()
        #expect(limits.deleteSelfReferencesMax == 750)
        limits.deleteSelfReferencesMax = 3
        let folder = try TemporaryFolder()
        for store in [MemoryCloudStore(), try SQLiteCloudStore(path: folder.file("store.db"))]
            as [any CloudStore]
        {
            let cloud = TestService(store: store, limits: limits)
            try cloud.zones(.create)
            func child(_ name: String, _ kind: RecordOperation.Kind = .create) -> RecordOperation {
                operation(kind, name, ["list": reference("list", .deleteSelf)])
            }
            // Those that come first have the room.
            let first = try cloud.modify(
                [operation(.create, "list"), child("a"), child("b"), child("c"), child("d")], atomic: false)
            #expect(first.summaries == ["saved", "saved", "saved", "saved", "BAD_REQUEST"])
            #expect(first[4].error?.reason?.contains("'list'") == true)
            #expect(first[4].error?.ckErrorCode == 12)
            // One that is there already is none more, and other references aren't counted.
            #expect(try cloud.modify([child("a", .forceUpdate)]).summaries == ["saved"])
            let other = ["list": reference("list", Reference.Action.none)]
            #expect(try cloud.modify([operation(.create, "other", other)]).summaries == ["saved"])
            #expect(try cloud.modify([child("d")]).summaries == ["BAD_REQUEST"])
            // Who goes, or lets go, makes room in the same request.
            let swapped = try cloud.modify([
                child("d"), operation(.forceDelete, "a"), child("e"),
                operation(.forceUpdate, "b", ["list": .cleared]),
            ])
            #expect(swapped.summaries == ["saved", "deleted", "saved", "saved"])
            #expect(try cloud.modify([child("f")]).summaries == ["BAD_REQUEST"])
        }
    }

    @Test func theErrorOfAForbiddenDeletionNamesRecordAndFieldAsApplesDoes() throws {
        try cloud.modify([
            operation(.create, "note"), operation(.create, "holder", ["Note": reference("note", .validate)]),
        ])
        let error = try #require(try cloud.modify([operation(.forceDelete, "note")])[0].error)
        #expect(
            error.reason
                == "Field=Note, recordID=holder, title=Record delete would violate validating reference, "
                + "rejecting update")
    }
}
