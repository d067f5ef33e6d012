import Simulation
import Testing

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

    @Test("129. folded, what was made and deleted unsent is nothing, whatever was sent under the name before")
    mutating func whatWasMadeAndDeletedUnsentIsNothing() {
        begin()
        commits("second", isInsert: true)
        commits("third")
        deletes()
        #expect(ledger.unaccounted.isEmpty)
    }

    @Test mutating func aDeletionOfWhatWasSentIsMissed() {
        begin()
        commits("second", isInsert: true)
        ledger.serverHas(record: Self.record, fields: [("text", "second")])
        deletes()
        #expect(ledger.unaccounted.map(\.isDeletion) == [true])
    }

    @Test mutating func aDeletionOfWhatTheDeviceDidNotMakeIsMissed() {
        begin()
        commits("edited")
        ledger.serverHas(record: Self.record, fields: [("text", "edited")])
        deletes()
        #expect(ledger.unaccounted.map(\.isDeletion) == [true])
    }
}
