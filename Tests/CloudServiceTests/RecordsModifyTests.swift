import CloudService
import CloudStore
import CloudWire
import System
import Testing

@Suite struct RecordsModifyTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    private func title(_ text: String) -> [String: Field] { ["title": Field(.string(text))] }

    private func save(_ name: String, _ fields: [String: Field] = [:], parent: String? = nil) throws
        -> WireRecord
    {
        try #require(try cloud.modify([operation(.create, name, fields, parent: parent)])[0].record)
    }

    @Test func aCreatedRecordComesBackAsItWasSent() throws {
        let fields: [String: Field] = [
            "title": Field(.string("Pick up eggs")), "isDone": Field(.int64(0)),
            "weight": Field(.double(0.5)),
            "due": Field(.timestamp(milliseconds: -1)), "blob": Field(.bytes([0, 255])),
            "tags": Field(.list(.stringList, [.string("a"), .string("b")])),
            "place": Field(.location(Location(latitude: 1.5, longitude: -2.5, altitude: 3))),
            "list": reference("groceries", .none), "secret": Field(.string("x"), isEncrypted: true),
        ]
        let saved = try save("a", fields)
        #expect(saved.fields == fields)
        #expect(saved.recordType == "todo" && saved.deleted == false && saved.recordChangeTag != nil)
        #expect(saved.zoneID == ZoneID(zoneName: "todos", ownerRecordName: "_ada"))
        #expect(saved.created?.userRecordName == "_ada" && saved.created == saved.modified)
        #expect(try cloud.lookup(["a"]) == [.record(saved)])
    }

    @Test func aRecordWithoutANameGetsOne() throws {
        let result = try cloud.modify([operation(.create, nil), operation(.create, nil)])
        #expect(Set(result.map(\.recordName)).count == 2)
        #expect(try cloud.lookup(result.compactMap(\.recordName)).summaries == ["saved", "saved"])
    }

    @Test func creatingARecordThatIsThereIsAConflictThatShowsIt() throws {
        let saved = try save("a", title("first"))
        let error = try #require(try cloud.modify([operation(.create, "a", title("second"))])[0].error)
        #expect(error.serverErrorCode == .conflict && error.reason == "record to insert already exists")
        #expect(error.ckErrorCode == 14 && error.serverRecord == saved && error.recordName == "a")
        #expect(try cloud.lookup(["a"]) == [.record(saved)])
    }

    @Test func anUpdateChangesOnlyTheNamedFieldsAndTheTag() throws {
        let saved = try save("a", ["title": Field(.string("first")), "isDone": Field(.int64(0))])
        cloud.clock.advance(bySeconds: 5)
        let updated = try #require(
            try cloud.modify([
                operation(.update, "a", tag: saved.recordChangeTag, ["isDone": Field(.int64(1))])
            ])[0].record)
        #expect(updated.fields == ["title": Field(.string("first")), "isDone": Field(.int64(1))])
        #expect(updated.recordChangeTag != saved.recordChangeTag)
        #expect(updated.created == saved.created)
        let seconds =
            try #require(updated.modified).timestampMilliseconds
            - (try #require(saved.modified)).timestampMilliseconds
        #expect(seconds == 5000)
    }

    @Test func anUpdateWithAnotherTagIsAConflictThatShowsTheServersRecord() throws {
        let first = try save("a", title("first"))
        let second = try #require(
            try cloud.modify([operation(.update, "a", tag: first.recordChangeTag, title("second"))])[0].record
        )
        for kind in [RecordOperation.Kind.update, .replace, .delete] {
            for tag in [first.recordChangeTag, "", "0.0", "1s2g", "\u{0}🎉"] {
                let error = try #require(
                    try cloud.modify([operation(kind, "a", tag: tag, title("third"))])[0].error)
                #expect(error.serverErrorCode == .conflict)
                #expect(error.reason == "client oplock error updating record")
                #expect(error.serverRecord == second && error.ckErrorCode == 14)
            }
        }
        #expect(try cloud.modify([operation(.update, "a", title("third"))]).summaries == ["CONFLICT"])
        #expect(try cloud.lookup(["a"]) == [.record(second)])
    }

    @Test func anUpdateOfADeletedRecordIsNotFound() throws {
        let saved = try save("a")
        try cloud.modify([operation(.forceDelete, "a")])
        let error = try #require(
            try cloud.modify([operation(.update, "a", tag: saved.recordChangeTag)])[0].error)
        #expect(error.serverErrorCode == .notFound && error.ckErrorCode == 11)
        #expect(error.reason == "recordChangeTag specified, but record not found")
    }

    @Test func noTagOfADeletedRecordFitsTheOneMadeInItsPlace() throws {
        let saved = try save("a")
        try cloud.modify([operation(.forceDelete, "a")])
        let again = try save("a")
        #expect(again.recordChangeTag != saved.recordChangeTag)
        #expect(
            try cloud.modify([operation(.update, "a", tag: saved.recordChangeTag)]).summaries == ["CONFLICT"])
        try cloud.zones(.delete)
        try cloud.zones(.create)
        let third = try save("a")
        #expect(![saved.recordChangeTag, again.recordChangeTag].contains(third.recordChangeTag))
    }

    @Test func forceUpdateKeepsTheOtherFieldsAndForceReplaceDropsThem() throws {
        #expect(try cloud.modify([operation(.forceUpdate, "a", title("first"))]).summaries == ["saved"])
        #expect(try cloud.modify([operation(.forceReplace, "b", title("first"))]).summaries == ["saved"])
        let results = try cloud.modify([
            operation(.forceUpdate, "a", tag: "stale", ["isDone": Field(.int64(1))]),
            operation(.forceReplace, "b", tag: "stale", ["isDone": Field(.int64(1))]),
        ])
        #expect(results.compactMap { $0.record?.fields.keys.sorted() } == [["isDone", "title"], ["isDone"]])
    }

    @Test func replaceDropsWhatItDoesntName() throws {
        let saved = try save("a", title("first"))
        let result = try cloud.modify([
            operation(.replace, "a", tag: saved.recordChangeTag, ["isDone": Field(.int64(1))])
        ])
        #expect(result[0].record?.fields == ["isDone": Field(.int64(1))])
    }

    @Test func aNullClearsAField() throws {
        let saved = try save("a", title("first"))
        let result = try cloud.modify([
            operation(.update, "a", tag: saved.recordChangeTag, ["title": .cleared])
        ])
        #expect(result[0].record?.fields == [:])
    }

    @Test func forceDeleteAlwaysSucceedsAndDeleteReportsMissingRecords() throws {
        let saved = try save("a")
        #expect(try cloud.modify([operation(.forceDelete, "never")]).summaries == ["deleted"])
        #expect(try cloud.modify([operation(.delete, "never")]).summaries == ["NOT_FOUND"])
        #expect(
            try cloud.modify([operation(.delete, "a", tag: saved.recordChangeTag)]).summaries == ["deleted"])
        #expect(try cloud.modify([operation(.delete, "a")]).summaries == ["NOT_FOUND"])
        #expect(try cloud.modify([operation(.forceDelete, "a")]).summaries == ["deleted"])
        #expect(try cloud.lookup(["a"]).summaries == ["NOT_FOUND"])
    }

    @Test func anAtomicBatchWithOneFailureSavesNothingAndNamesTheOffender() throws {
        let saved = try save("a", title("first"))
        let before = try cloud.changes()
        let results = try cloud.modify(
            [operation(.create, "b"), operation(.create, "a"), operation(.forceUpdate, "c")], atomic: true)
        #expect(results.summaries == ["ATOMIC_ERROR", "CONFLICT", "ATOMIC_ERROR"])
        #expect(results.map { $0.error?.ckErrorCode } == [22, 14, 22])
        #expect(try cloud.changes(before.syncToken).records == [])
        #expect(try cloud.lookup(["a", "b", "c"]).summaries == ["saved", "NOT_FOUND", "NOT_FOUND"])
        #expect(try cloud.lookup(["a"]) == [.record(saved)])
    }

    @Test func aBatchIsAtomicByHabitInACustomZoneAndNeverInTheDefaultZone() throws {
        let operations = [operation(.create, "b"), operation(.update, "gone", tag: "1.1")]
        #expect(try cloud.modify(operations).summaries == ["ATOMIC_ERROR", "NOT_FOUND"])
        #expect(try cloud.modify(operations, atomic: false).summaries == ["saved", "NOT_FOUND"])
        #expect(try cloud.modify(operations, zone: nil, atomic: true).summaries == ["saved", "NOT_FOUND"])
    }

    @Test func aFailureInOneZoneLeavesTheOtherZonesOfTheBatchAlone() throws {
        try cloud.zones(.create, [ZoneID(zoneName: "other")])
        var elsewhere = operation(.create, "x")
        elsewhere.record.zoneID = ZoneID(zoneName: "other")
        let results = try cloud.modify([
            operation(.create, "a"), operation(.update, "gone", tag: "1.1"), elsewhere,
        ])
        #expect(results.summaries == ["ATOMIC_ERROR", "NOT_FOUND", "saved"])
    }

    @Test func twoOperationsOnOneRecordAreRefusedAsAWhole() throws {
        #expect(throws: WireError.self) {
            try cloud.modify([operation(.create, "a"), operation(.forceUpdate, "a")])
        }
        #expect(try cloud.lookup(["a"]).summaries == ["NOT_FOUND"])
    }

    @Test func aRecordKeepsItsType() throws {
        let saved = try save("a")
        let results = try cloud.modify([operation(.update, "a", tag: saved.recordChangeTag, type: "song")])
        #expect(results.summaries == ["BAD_REQUEST"])
        #expect(try cloud.modify([operation(.create, "b", type: nil)]).summaries == ["BAD_REQUEST"])
        let update = try cloud.modify([operation(.update, "a", tag: saved.recordChangeTag, type: nil)])
        #expect(update[0].record?.recordType == "todo")
    }

    @Test func recordsOfTheDefaultZoneLiveWithoutAFeed() throws {
        let saved = try #require(try cloud.modify([operation(.create, "a", title("x"))], zone: nil)[0].record)
        #expect(saved.zoneID?.isDefault == true)
        let tag = saved.recordChangeTag
        #expect(try cloud.modify([operation(.update, "a", tag: tag)], zone: nil).summaries == ["saved"])
        #expect(try cloud.modify([operation(.update, "a", tag: tag)], zone: nil).summaries == ["CONFLICT"])
        #expect(try cloud.databaseChanges().zones.count == 1)
        #expect(try cloud.modify([operation(.forceDelete, "a")], zone: nil).summaries == ["deleted"])
        #expect(try cloud.lookup(["a"], zone: nil).summaries == ["NOT_FOUND"])
        let again = try #require(try cloud.modify([operation(.create, "a")], zone: nil)[0].record)
        #expect(again.recordChangeTag != tag)
    }

    @Test func answersKeepTheOrderOfTheOperationsAndOnlyTheDesiredKeys() throws {
        var first = operation(.create, "b", ["title": Field(.string("x")), "isDone": Field(.int64(0))])
        first.desiredKeys = ["isDone"]
        let results = try cloud.modify([
            first, operation(.create, "a", title("y")), operation(.forceDelete, "c"),
        ])
        #expect(results.map(\.recordName) == ["b", "a", "c"])
        #expect(results[0].record?.fields.keys.sorted() == ["isDone"])
        #expect(results[1].record?.fields.keys.sorted() == ["title"])
    }
}
