import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// The merge log says of each value what became of it, and keeps and shows no more of it than a line has room for.
@Suite struct MergeLogTests {
    typealias Device = CloudModelTests.Device

    struct Page: CloudModel, Equatable {
        var title = ""
        var due = Date(timeIntervalSince1970: 0)
        var tags: [String] = []
        var steps: [String] = []
        var visits = 0
        var rank = 0
        var words = ""

        static let recordType = "page"
        static let fields = CloudFields<Page> {
            $0.field(\.title)
            $0.field(\.due)
            $0.field(\.tags).mergedAsSet()
            $0.field(\.steps).mergedInOrder()
            $0.field(\.visits).summed()
            $0.field(\.rank).merged { _, local, remote in max(local, remote) }
            $0.field(\.words).merged { _, local, remote in "\(remote) \(local)" }
        }
    }

    let cloud = TestCloud()
    let phone: Device
    let laptop: Device
    /// What the phone's log says.
    private let log = Lock<[CloudMergeLogEntry]>([])
    private let listens = Lock(false)

    init() throws {
        func device(_ cloud: TestCloud) throws -> Device {
            try Device(cloud, .model(Page.self, collection: "items")) {
                $0.register(Page.self, inCollection: "items")
            }
        }
        (phone, laptop) = (try device(cloud), try device(cloud))
    }

    private func edit(_ device: Device, _ change: (inout Page) -> Void) throws {
        var page = try device.object(Page.self, "1") ?? Page()
        change(&page)
        try device.write { try $0.setObject(page, forKey: "1", inCollection: "items") }
    }

    /// Both devices change the same page, the phone while it is offline and each step in a commit. Then it fetches.
    private func diverge(
        from begin: (inout Page) -> Void = { _ in }, _ here: [(inout Page) -> Void],
        against there: (inout Page) -> Void
    ) throws {
        while phone.sync.cloudKit.suspendCount > 0 { phone.sync.resume() }
        try edit(phone, begin)
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        phone.sync.suspend()
        for change in here { try edit(phone, change) }
        try edit(laptop, there)
        laptop.sync.syncNowInline()
        phone.sync.syncNowInline()
    }

    /// What the phone's log says when both devices have changed the same page.
    private func decided(
        from begin: (inout Page) -> Void = { _ in }, _ here: [(inout Page) -> Void],
        against there: (inout Page) -> Void
    ) throws -> [CloudMergeLogEntry] {
        try diverge(from: begin, here, against: there)
        return heard()
    }

    /// What the phone's log says and nobody has heard yet.
    private func heard() -> [CloudMergeLogEntry] {
        let isFirst = listens.withLock { listens in
            defer { listens = true }
            return !listens
        }
        if isFirst {
            phone.sync.observeMergeLog { [log] entries in log.withLock { $0 += entries } }
        }
        phone.sync.cloudKit.handOutMergeLogInline()
        return log.withLock { entries in
            defer { entries = [] }
            return entries
        }
    }

    /// The entries as the file has them.
    private func stored() throws -> [CloudMergeLogEntry] {
        try phone.database.newConnection().blocking.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.log.logEntries()
        }
    }

    /// How many entries the file has, and the bytes of their values.
    private func storedSize() throws -> (count: Int64, bytes: Int64) {
        try phone.database.newConnection().blocking.read { transaction in
            try transaction.sqlite.withStatement(
                "SELECT count(*), sum(length(field_values)) FROM cloudKit_log_cloudKit"
            ) { row in
                let hasRow = try row.step()
                return (count: hasRow ? row.int64(at: 0) : 0, bytes: hasRow ? row.int64(at: 1) : 0)
            }
        }
    }

    // MARK: What became of a value

    @Test func aSumIsCombinedAndNothingIsDropped() throws {
        let entries = try decided(from: { $0.visits = 10 }, [{ $0.visits += 3 }], against: { $0.visits += 1 })
        #expect(try phone.object(Page.self, "1")?.visits == 14)
        #expect(entries.map(\.description) == [#"1.visits: combined, merged, "13" became "14""#])
        #expect(entries.map(\.kind) == [.combined] && entries.map(\.dropped) == [nil])
    }

    @Test func aUnionIsCombinedWhicheverSideItEquals() throws {
        let entries = try decided(
            from: {
                $0.tags = ["a"]
                $0.steps = ["a"]
            },
            [
                {
                    $0.tags = ["a", "b"]
                    $0.steps = ["a", "b"]
                }
            ],
            against: {
                $0.tags = ["a", "c"]
                $0.steps = ["a", "b", "c"]
            })
        // All that this device has added to the steps the other has too.
        #expect(
            entries.map(\.description) == [
                #"1.steps: combined, remoteWon, "[a, b]" became "[a, b, c]""#,
                #"1.tags: combined, merged, "[a, b]" became "[a, c, b]""#,
            ])
        // The other way round: this device has all that the other has.
        let local = try decided(
            [{ $0.steps = ["a", "b", "c", "d", "e"] }],
            against: { $0.steps = ["a", "b", "c", "d"] })
        #expect(
            local.map(\.description) == [
                #"1.steps: combined, localKept, "[a, b, c, d]" became "[a, b, c, d, e]""#
            ])
        #expect((entries + local).allSatisfy { $0.dropped == nil })
    }

    @Test func anOwnLaterCommitSupersedesAndIsLostByItself() throws {
        let entries = try decided([{ $0.title = "b" }, { $0.title = "c" }], against: { $0.title = "z" })
        #expect(
            entries.map(\.description) == [
                #"1.title: superseded, "b" became "c""#, #"1.title: lost, remoteWon, dropped "c", kept "z""#,
            ])
        #expect(entries.map(\.dropped) == [nil, "c"])
    }

    @Test func theOtherDevicesValueIsLostToo() throws {
        let entries = try decided([{ $0.rank = 5 }], against: { $0.rank = 3 })
        #expect(try phone.object(Page.self, "1")?.rank == 5)
        #expect(entries.map(\.description) == [#"1.rank: lost, localKept, dropped "3", kept "5""#])
        let other = try decided([{ $0.rank = 6 }], against: { $0.rank = 9 })
        #expect(other.map(\.description) == [#"1.rank: lost, remoteWon, dropped "6", kept "9""#])
    }

    @Test func aThirdValueOfAnAppsRuleIsMadeOfBoth() throws {
        let entries = try decided([{ $0.words = "mine" }], against: { $0.words = "theirs" })
        #expect(entries.map(\.description) == [#"1.words: combined, merged, "mine" became "theirs mine""#])
    }

    @Test func aCounterThatTheOtherDeviceRemovedIsLost() throws {
        try edit(phone) { $0.visits = 10 }
        phone.sync.syncNowInline()
        phone.sync.suspend()
        try edit(phone) { $0.visits = 11 }
        let record = try #require(phone.server("1"))
        record["visits"] = nil
        laptop.container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
        phone.sync.syncNowInline()
        #expect(try phone.object(Page.self, "1")?.visits == 0)
        #expect(heard().map(\.description) == [#"1.visits: lost, remoteWon, dropped "11""#])
    }

    @Test func whatWasChangedAndDeletedHereIsSupersededAndTheDeletionIsLost() throws {
        try edit(phone) { $0.title = "a" }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        phone.sync.suspend()
        try edit(phone) { $0.title = "b" }
        try phone.write { try $0.removeObject(forKey: "1", inCollection: "items") }
        try edit(laptop) { $0.title = "z" }
        laptop.sync.syncNowInline()
        phone.sync.syncNowInline()
        #expect(
            heard().map(\.description) == [
                "1: lost, deletionDropped", #"1.title: superseded, remoteWon, "b" became nothing"#,
            ])
    }

    @Test func ofValuesThatGoWithTheirRecordTheNewestIsLost() throws {
        try edit(phone) { $0.title = "start" }
        phone.sync.syncNowInline()
        phone.sync.suspend()
        try edit(phone) { $0.title = "a" }
        try edit(phone) { $0.title = "b" }
        try edit(phone) { $0.words = "w" }
        try phone.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try ext.removeRemotelyDeletedRecord(
                CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID), databaseIdentifier: nil)
        }
        #expect(
            heard().map(\.description) == [
                #"1.title: superseded, deletedRemotely, "a" became nothing"#,
                #"1.title: lost, deletedRemotely, dropped "b""#,
                #"1.words: lost, deletedRemotely, dropped "w""#,
            ])
    }

    // MARK: What is kept and shown

    @Test func ofALongTextTheLogHasItsBeginningAndItsLength() throws {
        let family = "👨‍👩‍👧‍👦"
        let text = "x" + String(repeating: family, count: 80_000)
        #expect(text.utf8.count == 2_000_001)
        try diverge([{ $0.title = text }], against: { $0.title = "z" })
        let size = try storedSize()
        #expect(size.count == 1 && size.bytes > 900 && size.bytes < 1_200)
        let shown = "x" + String(repeating: family, count: 39) + "… (2000001 bytes)"
        #expect(try stored().map(\.dropped) == [shown])
        #expect(heard().map(\.dropped) == [shown])
    }

    @Test func aDateIsShownAsADate() throws {
        let entries = try decided(
            [{ $0.due = Date(timeIntervalSince1970: 1_795_702_664.25) }],
            against: { $0.due = Date(timeIntervalSince1970: -0.001) })
        #expect(entries.map(\.dropped) == ["2026-11-26T14:17:44.250Z"])
        #expect(entries.map(\.kept) == ["1969-12-31T23:59:59.999Z"])
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
            (Int64.max, "+292278994-08-17T07:12:55.807Z"), (Int64.min, "-292275055-05-16T16:47:04.192Z"),
        ] as [(Int64, String)])
    func eachDateHasItsText(_ milliseconds: Int64, _ text: String) {
        #expect(MergeLogValue(.timestamp(milliseconds: milliseconds)).words == text)
    }

    @Test(
        arguments: [
            (FieldValue.bytes([]), "0 bytes"), (.bytes([10]), "1 byte: 0a"),
            (.bytes([1, 2, 3, 4, 5, 6, 7, 8]), "8 bytes: 0102030405060708"),
            (.bytes([UInt8](repeating: 255, count: 9)), "9 bytes: ffffffffffffffff…"),
            (.double(1.5), "1.5"), (.reference(Reference(recordName: "r")), "r"),
            (.location(Location(latitude: 1, longitude: 2)), "1.0, 2.0"),
            (.asset(Asset(fileChecksum: "c", size: 1, downloadedData: "d")), "c"),
            (.asset(Asset()), "a file"),
            (.list(.bytesList, [.bytes([1, 2])]), "[2 bytes: 0102]"),
            (.list(.timestampList, [.timestamp(milliseconds: 1)]), "[1970-01-01T00:00:00.001Z]"),
        ] as [(FieldValue, String)])
    func eachKindOfValueHasItsWords(_ value: FieldValue, _ words: String) {
        #expect(MergeLogValue(value).words == words)
    }

    @Test func ofManyBytesTheirNumberIsKnown() {
        // No argument of the test above: it would be printed.
        let bytes = [UInt8](repeating: 0, count: 2_000_000)
        for value in [FieldValue.bytes(bytes), .encryptedBytes(bytes)] {
            #expect(MergeLogValue(value).words == "2000000 bytes: 0000000000000000…")
        }
    }

    @Test func aLongListIsCut() throws {
        let numbers = FieldValue.list(.int64List, (0..<5_000).map { .int64($0) })
        #expect(
            MergeLogValue(numbers).words
                == "[\((0..<125).map(String.init).joined(separator: ", ")), … (5000 elements)]")
        let text = String(repeating: "é", count: 600)
        let texts = FieldValue.list(.stringList, [.string("a"), .string(text), .string("b")])
        #expect(
            MergeLogValue(texts).words
                == "[a, \(String(repeating: "é", count: 496))… (1200 bytes), … (3 elements)]")
        let one = FieldValue.list(.stringList, [.string(text)])
        #expect(MergeLogValue(one).words == "[\(String(repeating: "é", count: 500))… (1200 bytes)]")
        try diverge([{ $0.steps = (0..<200).map { "step \($0)" } }], against: { $0.steps = ["other"] })
        let shown = try #require(try stored().first?.replaced)
        #expect(shown.hasSuffix(", step 124, … (200 elements)]"))
        #expect(heard().first?.replaced == shown)
    }

    @Test func aTextIsCutBetweenTwoCharacters() {
        let max = MergeLogValue.mergeLogValueBytesMax
        let before = String(repeating: "x", count: max - 1)
        // The accent belongs to the last character that has room, so that goes too.
        #expect(MergeLogValue(.string(before + "e\u{301}z")).words == before + "… (1003 bytes)")
        #expect(MergeLogValue(.string(before + "éz")).words == before + "… (1002 bytes)")
        #expect(MergeLogValue(.string(before + "z")).words == before + "z")
        #expect(MergeLogValue(.string(before + "zz")).words == before + "z… (1001 bytes)")
        let accents = "e" + String(repeating: "\u{301}", count: 1_000)
        #expect(MergeLogValue(.string(accents)).words == "… (2001 bytes)")
    }

    @Test func theLogTakesABoundedPlaceInTheFile() throws {
        let value = MergeLogValue(.list(.doubleList, (0..<100_000).map { .double(Double($0)) }))
        try phone.write { transaction in
            let tables = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables
            for _ in 0..<(MergeLogTable.logEntriesMax + 20) {
                var entry = CloudMergeLogEntry(
                    recordID: CKRecord.ID(recordName: "1"), field: "f", rule: .remoteWon, kind: .lost,
                    replaced: value, kept: value)
                try tables.log.insert(&entry)
            }
        }
        let size = try storedSize()
        #expect(size.count == MergeLogTable.logEntriesMax)
        #expect(size.bytes < 25_000_000)
    }

    // MARK: Files of other versions

    /// Writes an entry as another version of the library would have.
    private func write(_ rule: CloudMergeLogEntry.Rule, _ fields: [String: Field]) throws {
        try phone.write { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.run(
                """
                INSERT INTO cloudKit_log_cloudKit (zone_owner, zone_name, record_name, field, rule, field_values)
                VALUES ('__defaultOwner__', 'items', '1', 'title', ?1, ?2)
                """, [.text(rule.rawValue), .blob(FieldsBinary.encode(fields))])
        }
    }

    @Test func anEntryOfAnEarlierVersionShowsAsItDid() throws {
        let text = String(repeating: "x", count: 2_000_000)
        try write(.merged, ["dropped": Field(.string("5")), "kept": Field(.string("8"))])
        try write(.superseded, ["dropped": Field(.string("b")), "kept": Field.cleared])
        try write(.remoteWon, ["dropped": Field(.string(text)), "kept": Field(.int64(1))])
        let entries = heard()
        #expect(
            entries.map(\.description) == [
                #"1.title: merged, dropped "5", kept "8""#, #"1.title: superseded, dropped "b""#,
                #"1.title: remoteWon, dropped "\#(text.prefix(1_000))… (2000000 bytes)", kept "1""#,
            ])
        #expect(entries.map(\.kind) == [nil, nil, nil])
        #expect(entries.map(\.dropped) == entries.map(\.replaced))
    }

    @Test func aKindOfALaterVersionIsUnknown() throws {
        try write(
            .merged,
            [
                "dropped": Field(.string("5")), "droppedLength": Field(.string("?")), "kept": .cleared,
                "kind": Field(.string("torn")),
            ])
        #expect(heard().map(\.description) == [#"1.title: merged, dropped "5""#])
    }
}
