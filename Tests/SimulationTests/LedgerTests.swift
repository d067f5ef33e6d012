import CloudKit
import CloudWire
import Simulation
import Testing
import YapCloudKit

/// The harness's account, where it has to tell a loss from what is right.
@Suite struct LedgerTests {
    private static let record = "item1"
    private var ledger = Ledger()

    init() {
        ledger.foldingDevices = [1]
    }

    private mutating func commits(_ value: String, isInsert: Bool = false) {
        ledger.committed(
            device: 1, Ledger.Value(record: Self.record, field: "text", value: value), isInsert: isInsert)
    }

    private mutating func deletes() {
        ledger.committed(
            device: 1, Ledger.Value(record: Self.record, field: Ledger.deletion, value: ""))
    }

    /// The device's first item of the name was sent, and deleted by another device, which made it again.
    private mutating func begin() {
        commits("first", isInsert: true)
        ledger.serverHas(record: Self.record, fields: [("text", "first")])
        ledger.serverDeleted(record: Self.record)
        ledger.serverHas(record: Self.record, fields: [("text", "of another device")])
    }

    @Test(
        "129. folded, a record created and deleted unsent sends nothing, for any earlier record of the name")
    mutating func whatWasMadeAndDeletedUnsentIsNothing() {
        begin()
        commits("second", isInsert: true)
        commits("third")
        deletes()
        #expect(ledger.unaccounted.isEmpty)
    }

    private mutating func makes(_ fields: [String], _ value: String) {
        let mark = ledger.mark(record: Self.record, device: 1)
        for field in fields {
            ledger.committed(
                device: 1, Ledger.Value(record: Self.record, field: field, value: "\(field) \(value)"),
                isInsert: true, mark: mark)
        }
    }

    /// The rows of the first one's user left the device. What was made then had other fields.
    @Test(
        "129. folded, a record created and deleted unsent sends nothing, also over an own one that was sent before",
        arguments: [false, true])
    mutating func whatWasMadeWhereItsUserHadLeftAndDeletedUnsentIsNothing(isSent: Bool) {
        makes(["text", "scan"], "first")
        let first = ["text", "scan"].map { (field: $0, value: "\($0) first") }
        ledger.serverHas(record: Self.record, fields: first)
        ledger.deviceWasEmptied(1)
        makes(["text", "photo"], "second")
        if isSent { ledger.serverHas(record: Self.record, fields: [("text", "text second")]) }
        deletes()
        #expect(ledger.unaccounted.map(\.isDeletion) == (isSent ? [true] : []))
    }

    @Test mutating func aDeletionOfWhatWasSentIsMissed() {
        begin()
        commits("second", isInsert: true)
        ledger.serverHas(record: Self.record, fields: [("text", "second")])
        deletes()
        #expect(ledger.unaccounted.map(\.isDeletion) == [true])
    }

    /// A deletion here of a record that another device has deleted and made again.
    private mutating func deletes(fetched historyCount: Int) {
        begin()
        let mark = ledger.mark(record: Self.record, device: 1, fetchedHistoryCount: historyCount)
        ledger.committed(
            device: 1, Ledger.Value(record: Self.record, field: Ledger.deletion, value: ""), mark: mark)
    }

    @Test mutating func aDeletionOfWhatWasGoneAlreadyIsDoneThoughAnotherDeviceMadeItAgain() {
        deletes(fetched: 1)
        #expect(ledger.unaccounted.isEmpty)
    }

    @Test mutating func aDeletionOfWhatTheDeviceKnewToBeMadeAgainIsMissed() {
        deletes(fetched: 3)
        #expect(ledger.unaccounted.map(\.isDeletion) == [true])
    }

    private func day(_ value: String) -> Ledger.Value {
        Ledger.Value(record: Self.record, field: "completionDay", value: value)
    }

    private mutating func serverHasDay(_ value: String) {
        ledger.serverHas(record: Self.record, fields: [("completionDay", value)])
    }

    private mutating func sendsDay(_ value: String) {
        ledger.committed(device: 1, day(value))
        serverHasDay(value)
    }

    @Test mutating func theOriginalOfAFieldThatWasNilIsUnknown() {
        sendsDay("own")
        ledger.nowSyncs(device: 1, day("kept to itself"))
        ledger.committed(device: 1, day("later"))
        ledger.remoteWon(device: 1, day("later"), by: day("own"))
        #expect(ledger.lies.isEmpty)
    }

    @Test mutating func aValueThatIsGivenUpForAnOlderOneOfTheDeviceIsALie() {
        sendsDay("own")
        ledger.nowSyncs(device: 1, day("kept to itself"))
        serverHasDay("kept to itself")
        ledger.committed(device: 1, day("later"))
        ledger.remoteWon(device: 1, day("later"), by: day("own"))
        #expect(ledger.lies.count == 1)
    }

    @Test mutating func anotherDevicesForgottenValueHasNoAuthorWhenItIsBroughtBack() {
        ledger.committed(device: 2, day("theirs"))
        serverHasDay("theirs")
        ledger.committed(device: 1, day("own"))
        ledger.deviceForgot(2, field: "completionDay")
        ledger.nowSyncs(device: 1, day("theirs"))
        ledger.remoteWon(device: 1, day("own"), by: day("theirs"))
        #expect(ledger.lies.isEmpty)
    }

    @Test mutating func whatADeviceForgotIsItsOwnAgainWhenItIsFoundInItsRow() {
        sendsDay("own")
        ledger.deviceForgot(1, field: "completionDay")
        ledger.nowSyncs(device: 1, day("own"))
        serverHasDay("own")
        sendsDay("later")
        ledger.committed(device: 1, day("last"))
        ledger.remoteWon(device: 1, day("last"), by: day("own"))
        #expect(ledger.lies.count == 1)
    }

    @Test mutating func aDeletionOfWhatTheDeviceDidNotMakeIsMissed() {
        begin()
        commits("edited")
        ledger.serverHas(record: Self.record, fields: [("text", "edited")])
        deletes()
        #expect(ledger.unaccounted.map(\.isDeletion) == [true])
    }

    // MARK: What a merge log says became of a value

    private typealias Kind = CloudMergeLogEntry.Kind

    private mutating func hears(
        _ rule: CloudMergeLogEntry.Rule, _ kind: Kind?, _ replaced: FieldValue, kept: FieldValue? = nil,
        field: String = "text"
    ) {
        ledger.merged(
            device: 1,
            CloudMergeLogEntry(
                recordID: CKRecord.ID(recordName: Self.record), field: field, rule: rule, kind: kind,
                replaced: MergeLogValue(replaced), kept: kept.map { MergeLogValue($0) }),
            record: Self.record)
    }

    @Test mutating func aLostValueThatIsSaidToBeLostIsAccountedFor() {
        commits("mine")
        hears(.remoteWon, .lost, .string("mine"), kept: .string("theirs"))
        #expect(ledger.lies.isEmpty && ledger.unaccounted.isEmpty)
    }

    @Test(arguments: [nil, .combined, .superseded, .restored] as [CloudMergeLogEntry.Kind?])
    mutating func aLostValueThatIsNotSaidToBeLostIsALie(_ kind: CloudMergeLogEntry.Kind?) {
        commits("mine")
        hears(.remoteWon, kind, .string("mine"), kept: .string("theirs"))
        #expect(ledger.lies.count == 1)
    }

    @Test mutating func anOwnLaterValueSupersedesAndALaterCommitIsTooLate() {
        commits("one")
        commits("two")
        hears(.superseded, .superseded, .string("one"), kept: .string("two"))
        #expect(ledger.lies.isEmpty)
        hears(.superseded, .superseded, .string("two"))
        commits("three")
        #expect(ledger.lies.count == 1)
    }

    @Test mutating func anOwnValueThatWasReplacedIsNotLost() {
        commits("one")
        commits("two")
        hears(.superseded, .lost, .string("one"), kept: .string("two"))
        #expect(ledger.lies.count == 1)
    }

    @Test mutating func aValueThatTheLogCutIsSeen() {
        let text = String(repeating: "x", count: 2_000)
        commits(text)
        hears(.remoteWon, .lost, .string(text), kept: .string("theirs"))
        #expect(ledger.lies.count == 1 && ledger.unaccounted.count == 1)
    }
}
