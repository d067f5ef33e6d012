internal import CloudKit
internal import Foundation
internal import System

/// What the server answered to changes of this device since the token of their zone was read for a fetch. A page that
/// was under way meanwhile may be from before it.
///
/// In memory: a fetch ends with its process.
final class WritesSinceFetch: Sendable {
    enum Outcome: Sendable {
        /// It saved the change, or showed its own version in a conflict: the row knows that one.
        case known
        /// With the time of the last version that was known here.
        case deleted(lastModification: Date?)
    }

    /// The most records; of more the oldest are forgotten.
    static let recordsMax = 1_000

    private struct Name: Hashable {
        var recordID: CKRecord.ID
        var database: DatabaseKey
    }

    private struct Zone: Hashable {
        var zoneID: CKRecordZone.ID
        var database: DatabaseKey
    }

    private struct State {
        var outcomes: [Name: Outcome] = [:]
        /// The names in the order in which they came.
        var order: [Name] = []
        /// Where outcomes were forgotten, because there were too many.
        var forgotten: Set<Zone> = []
    }

    private let state = Lock(State())

    /// A zone's token is read: a fetch begins.
    func noteFetch(of zoneID: CKRecordZone.ID, in database: DatabaseKey) {
        state.withLock { state in
            guard !state.order.isEmpty else { return }
            state.forgotten.remove(Zone(zoneID: zoneID, database: database))
            let gone = state.order.filter { $0.database == database && $0.recordID.zoneID == zoneID }
            for name in gone { state.outcomes[name] = nil }
            state.order.removeAll { state.outcomes[$0] == nil }
        }
    }

    /// The server answered to a change.
    func note(_ outcome: Outcome, of recordID: CKRecord.ID, in database: DatabaseKey) {
        let name = Name(recordID: recordID, database: database)
        state.withLock { state in
            guard state.outcomes.updateValue(outcome, forKey: name) == nil else { return }
            state.order.append(name)
            guard state.order.count > Self.recordsMax else { return }
            let oldest = state.order.removeFirst()
            state.outcomes[oldest] = nil
            state.forgotten.insert(Zone(zoneID: oldest.recordID.zoneID, database: oldest.database))
        }
    }

    /// Whether the server may have had the record since a fetch of its zone began.
    func mayHaveHad(_ recordID: CKRecord.ID, in database: DatabaseKey) -> Bool {
        state.withLock { state in
            if let outcome = state.outcomes[Name(recordID: recordID, database: database)] {
                if case .known = outcome { return true }
                return false
            }
            return state.forgotten.contains(Zone(zoneID: recordID.zoneID, database: database))
        }
    }

    /// What the server answered last to a change of the record since a fetch of its zone began.
    func outcome(of recordID: CKRecord.ID, in database: DatabaseKey) -> Outcome? {
        state.withLock { $0.outcomes[Name(recordID: recordID, database: database)] }
    }
}
