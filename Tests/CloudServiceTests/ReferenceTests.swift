import CloudService
import CloudStore
import CloudWire
import System
import Testing

@Suite struct ReferenceTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    @Test func deleteSelfReferrersAreDeletedWithTheirTargetAndAreInTheFeed() throws {
        try cloud.modify([
            operation(.create, "list"), operation(.create, "a", ["list": reference("list", .deleteSelf)]),
            operation(
                .create, "b",
                [
                    "lists": Field(
                        .list(
                            .referenceList,
                            [
                                .reference(Reference(recordName: "none")),
                                .reference(Reference(recordName: "a", action: .deleteSelf)),
                            ]))
                ]),
            operation(.create, "c", ["list": reference("list", Reference.Action.none)]),
        ])
        let token = try cloud.changes().syncToken
        #expect(try cloud.modify([operation(.forceDelete, "list")]).feed == ["list-"])
        #expect(try cloud.changes(token).records.feed == ["list-", "a-", "b-"])
        #expect(try cloud.lookup(["a", "b", "c"]).summaries == ["NOT_FOUND", "NOT_FOUND", "saved"])
    }

    @Test func aReferenceThatWasTakenBackNoLongerBinds() throws {
        try cloud.modify([
            operation(.create, "list"), operation(.create, "a", ["list": reference("list", .deleteSelf)]),
            operation(.create, "b", ["list": reference("list", .validate)]),
            operation(.create, "c", parent: "list"),
        ])
        try cloud.modify([
            operation(.forceUpdate, "a", ["list": .cleared]), operation(.forceReplace, "b"),
            operation(.forceReplace, "c"),
        ])
        #expect(try cloud.modify([operation(.forceDelete, "list")]).summaries == ["deleted"])
        #expect(try cloud.lookup(["a", "b", "c"]).summaries == ["saved", "saved", "saved"])
    }

    @Test func cyclesOfDeleteSelfEnd() throws {
        try cloud.modify([
            operation(.create, "a", ["next": reference("b", .deleteSelf)]),
            operation(.create, "b", ["next": reference("a", .deleteSelf)]),
            operation(.create, "self", ["next": reference("self", .deleteSelf)]),
        ])
        #expect(try cloud.modify([operation(.forceDelete, "self")]).summaries == ["deleted"])
        #expect(try cloud.modify([operation(.forceDelete, "a")]).summaries == ["deleted"])
        #expect(try cloud.changes().records == [])
    }

    @Test func aRecordThatIsValidatedOrAParentCantBeDeletedAlone() throws {
        for child in [
            operation(.create, "child", ["list": reference("list", .validate)]),
            operation(.create, "child", parent: "list"),
        ] {
            try cloud.modify([operation(.create, "list"), child])
            let error = try #require(try cloud.modify([operation(.forceDelete, "list")])[0].error)
            #expect(error.serverErrorCode == .validatingReferenceError && error.ckErrorCode == 31)
            #expect(try cloud.lookup(["list"]).summaries == ["saved"])
            let both = [operation(.forceDelete, "list"), operation(.forceDelete, "child")]
            #expect(try cloud.modify(both).summaries == ["deleted", "deleted"])
        }
    }

    @Test func aParentThatIsNullIsTakenAwayAndOneThatIsNotNamedStays() throws {
        try cloud.modify([operation(.create, "list"), operation(.create, "child", parent: "list")])
        try cloud.modify([operation(.forceUpdate, "child")])
        #expect(
            try cloud.modify([operation(.forceDelete, "list")]).summaries == ["VALIDATING_REFERENCE_ERROR"])
        var away = operation(.forceUpdate, "child")
        away.record.takesParentAway = true
        #expect(try cloud.modify([away]).summaries == ["saved"])
        #expect(try cloud.modify([operation(.forceDelete, "list")]).summaries == ["deleted"])
    }

    @Test func aParentOrAValidatedTargetMustBeThereOrComeInTheSameBatch() throws {
        let children = [
            operation(.create, "child", ["list": reference("list", .validate)]),
            operation(.create, "child", parent: "list"),
        ]
        for child in children {
            #expect(try cloud.modify([child]).summaries == ["VALIDATING_REFERENCE_ERROR"])
            #expect(try cloud.modify([child, operation(.create, "list")]).summaries == ["saved", "saved"])
            try cloud.modify([operation(.forceDelete, "child"), operation(.forceDelete, "list")])
        }
    }

    @Test func aFailedParentFailsItsChildrenInABatchThatIsNotAtomic() throws {
        let results = try cloud.modify(
            [
                operation(.create, "grandchild", parent: "child"),
                operation(.create, "child", parent: "list"),
                operation(.update, "list", tag: "1.1"), operation(.create, "other"),
            ], atomic: false)
        #expect(
            results.summaries == [
                "VALIDATING_REFERENCE_ERROR", "VALIDATING_REFERENCE_ERROR", "NOT_FOUND", "saved",
            ])
    }

    @Test func aBindingReferenceCantLeaveItsZone() throws {
        let other = Reference(recordName: "x", zoneID: ZoneID(zoneName: "other"), action: .deleteSelf)
        #expect(
            try cloud.modify([operation(.create, "a", ["list": Field(.reference(other))])]).summaries == [
                "BAD_REQUEST"
            ])
        let own = Reference(
            recordName: "x", zoneID: ZoneID(zoneName: "todos", ownerRecordName: "_ada"), action: .deleteSelf)
        #expect(
            try cloud.modify([operation(.create, "a", ["list": Field(.reference(own))])]).summaries == [
                "saved"
            ])
    }

    @Test func aDeleteThatTakesTooManyAlongIsRefused() throws {
        var limits = ServiceLimits()
        limits.cascadeRecordsMax = 5
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "list")])
        try cloud.modify(
            (1...4).map { operation(.create, "r\($0)", ["list": reference("list", .deleteSelf)]) })
        try cloud.modify(
            (5...8).map { operation(.create, "r\($0)", ["list": reference("list", .deleteSelf)]) })
        #expect(try cloud.modify([operation(.forceDelete, "list")])[0].error?.ckErrorCode == 27)
        #expect(try cloud.changes().records.count == 9)
        // Neither of two deletes is done in part when they are too much together.
        for list in ["x", "y"] {
            try cloud.modify([operation(.create, list)])
            try cloud.modify(
                (1...3).map { operation(.create, "\(list)\($0)", ["list": reference(list, .deleteSelf)]) })
        }
        let both = try cloud.modify(
            [operation(.forceDelete, "x"), operation(.forceDelete, "y")], atomic: false)
        #expect(both.map { $0.error?.ckErrorCode } == [27, 27])
        #expect(try cloud.modify([operation(.forceDelete, "x")]).summaries == ["deleted"])
        #expect(try cloud.modify([operation(.forceDelete, "y")]).summaries == ["deleted"])
        #expect(try cloud.changes().records.count == 9)
    }

    @Test func aCascadeMayHoldMoreBytesThanARequestMayLoad() throws {
        var limits = ServiceLimits()
        limits.answerBytesMax = 10_000
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "list")])
        for number in 1...5 {
            let fields = [
                "list": reference("list", .deleteSelf),
                "blob": Field(.bytes([UInt8](repeating: 7, count: 5_000))),
            ]
            try cloud.modify([operation(.create, "r\(number)", fields)])
        }
        #expect(try cloud.modify([operation(.forceDelete, "list")]).summaries == ["deleted"])
        #expect(try cloud.changes().records == [])
        // What they referred to is free: nobody refers to a record of that name any more.
        try cloud.modify([operation(.create, "list")])
        #expect(try cloud.modify([operation(.forceDelete, "list")]).summaries == ["deleted"])
    }

    @Test func whatADeletedRecordReferredToCanBeDeleted() throws {
        try cloud.modify([
            operation(.create, "target"), operation(.create, "holder", ["t": reference("target", .validate)]),
        ])
        #expect(
            try cloud.modify([operation(.forceDelete, "target")]).summaries == ["VALIDATING_REFERENCE_ERROR"])
        try cloud.modify([operation(.forceDelete, "holder")])
        #expect(try cloud.modify([operation(.forceDelete, "target")]).summaries == ["deleted"])
    }

    @Test func aRecordToWhichTooManyReferIsNotLoadedWhole() throws {
        var limits = ServiceLimits()
        limits.dependantsMax = 3
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "list")])
        try cloud.modify((1...4).map { operation(.create, "r\($0)", ["list": reference("list", .validate)]) })
        let error = #expect(throws: WireError.self) { try cloud.modify([operation(.forceDelete, "list")]) }
        #expect(error?.ckErrorCode == 27)
        try cloud.modify([operation(.forceDelete, "r4")])
        #expect(
            try cloud.modify([operation(.forceDelete, "list")]).summaries == ["VALIDATING_REFERENCE_ERROR"])
    }

    @Test func aRecordThatCannotBeReadIsAnErrorOfItsOwn() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.modify(["a", "b", "c"].map { operation(.create, $0) })
        let key = RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos"), recordName: "b")
        var wanted = StoreLoad()
        wanted.records = [key]
        let loaded = try store.read { [wanted] in try $0.load(wanted) }
        var row = try #require(loaded.records[key])
        row.fields = [0xFF]
        var changes = StoreChanges()
        changes.records = [row]
        try store.write { [changes] in try $0.apply(changes) }
        #expect(try cloud.lookup(["a", "b", "c"]).summaries == ["saved", "INTERNAL_ERROR", "saved"])
        let page = try cloud.changes().records
        #expect(page.feed == ["a+", "b-", "c+"] && page.summaries[1] == "INTERNAL_ERROR")
        #expect(try cloud.modify([operation(.forceDelete, "b")]).summaries == ["deleted"])
    }
}
