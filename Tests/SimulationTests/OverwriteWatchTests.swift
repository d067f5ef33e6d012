import Simulation
import Testing

/// The harness's watch over what the server's fields go through, where it has to tell a loss from what is right.
@Suite struct OverwriteWatchTests {
    private var ledger = Ledger()

    private mutating func edits(_ device: Int, _ value: String, over before: String? = nil) {
        ledger.committed(
            device: device, Ledger.Value(record: "item1", field: "text", value: value),
            isInsert: before == nil, before: before)
    }

    private mutating func deletes(_ device: Int) {
        ledger.committed(
            device: device, Ledger.Value(record: "item1", field: Ledger.deletion, value: ""))
    }

    private mutating func serverHas(_ values: String...) {
        for value in values { ledger.serverHas(record: "item1", fields: [("text", value)]) }
    }

    @Test mutating func aValueThatWasSeenMayBeReplacedAlsoByALaterEditOfTheSameDevice() {
        edits(1, "a")
        edits(2, "b", over: "a")
        edits(2, "c", over: "b")
        serverHas("a", "c")
        #expect(ledger.overwrites.faults.isEmpty)
    }

    @Test mutating func aValueThatWasNotSeenIsNotReplaced() {
        edits(1, "a")
        edits(2, "b", over: "a")
        edits(3, "c", over: "a")
        serverHas("a", "b", "c")
        #expect(ledger.overwrites.faults.count == 1)
    }

    @Test mutating func aValueDoesNotComeBackOverALaterOne() {
        edits(1, "a")
        edits(2, "b", over: "a")
        serverHas("a", "b", "a")
        #expect(ledger.overwrites.faults.count == 1)
    }

    @Test mutating func aValueOfAVersionThatDidNotSyncItReplacesNoOtherDevicesValue() {
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "a"))
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "b"))
        serverHas("a", "b")
        #expect(ledger.overwrites.faults.isEmpty, "it is the device's own")
        edits(2, "c", over: "b")
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "d"))
        serverHas("c", "d")
        #expect(ledger.overwrites.faults.count == 1)
    }

    /// The value that the server has still waited from an upgrade before: what was set on top of it goes up.
    @Test(arguments: [false, true])
    mutating func aValueThatAnEarlierUpgradeQueuedMayBeReplacedUntilTheDeviceComesToRest(rests: Bool) {
        edits(2, "a")
        serverHas("a")
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "a"))
        if rests { ledger.cameToRest(device: 1) }
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "b"))
        serverHas("b")
        #expect(ledger.overwrites.faults.count == (rests ? 1 : 0))
    }

    /// The device cleared the server's value, and an earlier version of its app set the field before that was sent.
    @Test(arguments: [false, true])
    mutating func aValueThatAQueuedEditWasMadeFromMayBeReplacedUntilTheDeviceComesToRest(rests: Bool) {
        edits(2, "a")
        ledger.removed(device: 1, Ledger.Value(record: "item1", field: "text", value: "a"))
        ledger.committed(
            device: 1, Ledger.Value(record: "item1", field: "text", value: Ledger.cleared))
        if rests { ledger.cameToRest(device: 1) }
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "b"))
        serverHas("a", "b")
        #expect(ledger.overwrites.faults.count == (rests ? 1 : 0))
    }

    @Test mutating func aValueThatCameAfterAnEarlierUpgradeIsNotReplaced() {
        edits(2, "a")
        edits(2, "b", over: "a")
        serverHas("a", "b")
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "a"))
        ledger.nowSyncs(device: 1, Ledger.Value(record: "item1", field: "text", value: "c"))
        serverHas("c")
        #expect(ledger.overwrites.faults.count == 1)
    }

    @Test mutating func whatTheServerLostMayComeBackOverAnything() {
        edits(1, "a")
        edits(2, "b", over: "a")
        edits(3, "c", over: "a")
        serverHas("a", "b")
        ledger.serverWasRestored()
        serverHas("a", "b", "c")
        #expect(ledger.overwrites.faults.isEmpty)
    }

    @Test mutating func aDeletedRecordDoesNotComeBackUnlessALogSaysSo() {
        edits(1, "a")
        serverHas("a")
        deletes(2)
        ledger.serverDeleted(record: "item1")
        serverHas("a")
        #expect(ledger.overwrites.faults.count == 1)
        ledger.madeAgain(device: 1, record: "item1")
        #expect(ledger.overwrites.faults.isEmpty)
    }

    /// The service can't tell a request that its device gave up from one that is made now.
    @Test mutating func aRecordComesBackWithARequestThatWasGivenUp() {
        edits(1, "a")
        serverHas("a")
        deletes(2)
        ledger.serverDeleted(record: "item1")
        ledger.servesLate = true
        serverHas("a")
        #expect(ledger.overwrites.faults.isEmpty)
    }

    @Test mutating func aFieldOfAnObjectMadeWhereItsUserHadLeftCountsAsAChangeOfWhatWaited() {
        edits(1, "a")
        serverHas("a")
        ledger.deviceWasEmptied(2)
        ledger.committed(
            device: 2, Ledger.Value(record: "item1", field: "title", value: "x"), isInsert: true)
        ledger.committed(device: 2, Ledger.Value(record: "item1", field: "text", value: "b"))
        ledger.serverHas(record: "item1", fields: [("text", "b"), ("title", "x")])
        #expect(ledger.overwrites.faults.isEmpty)
    }

    /// What the person had cleared long before is not what the next value was set over.
    @Test(arguments: [false, true])
    mutating func aValueThatWasClearedBeforeALaterOneWasSetSaysNothingOfWhatWaited(isEmptied: Bool) {
        edits(2, "a")
        ledger.removed(device: 2, Ledger.Value(record: "item1", field: "text", value: "a"))
        ledger.committed(
            device: 2, Ledger.Value(record: "item1", field: "text", value: Ledger.cleared))
        ledger.committed(device: 2, Ledger.Value(record: "item1", field: "text", value: "b"))
        serverHas("b")
        if isEmptied { ledger.deviceWasEmptied(2) }
        ledger.committed(
            device: 2, Ledger.Value(record: "item1", field: "title", value: "x"), isInsert: true)
        ledger.committed(device: 2, Ledger.Value(record: "item1", field: "text", value: "c"))
        edits(2, "d", over: "c")
        ledger.serverHas(record: "item1", fields: [("text", "d"), ("title", "x")])
        #expect(ledger.overwrites.faults.count == (isEmptied ? 0 : 1))
    }

    @Test mutating func aFieldThatAnotherDeviceSetIsNotReplacedByOneThatIsSetFirst() {
        edits(1, "a")
        serverHas("a")
        ledger.committed(device: 2, Ledger.Value(record: "item1", field: "text", value: "b"))
        serverHas("b")
        #expect(ledger.overwrites.faults.count == 1)
    }

    @Test mutating func aRecordIsDeletedOnlyAfterARequestedDeletion() {
        edits(1, "a")
        serverHas("a")
        ledger.serverDeleted(record: "item1")
        #expect(ledger.overwrites.faults.count == 1)
        deletes(2)
        ledger.serverDeleted(record: "item1")
        #expect(ledger.overwrites.faults.count == 1)
    }
}
