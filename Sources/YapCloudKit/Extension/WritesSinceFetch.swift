internal import CloudKit
internal import Foundation
internal import Seams

/// What the server did with changes of this device since the token of their zone was read for a fetch. A page that was
/// under way meanwhile may be from before it.
///
/// In memory: a fetch ends with its process.
final class WritesSinceFetch: Sendable {
    enum Outcome: Sendable {
        case saved
        /// With the time of the last version that was known here.
        case deleted(lastModification: Date?)
    }

    /// The most records; of more the oldest are forgotten.
    static let recordsMax = 1_000

    private struct Name: Hashable {
        var recordID: CKRecord.ID
        var database: DatabaseKey
    }

    private struct State {
        var outcomes: [Name: Outcome] = [:]
        /// The names in the order in which they came.
        var order: [Name] = []
    }

    private let state = Lock(State())

    /// A zone's token is read: a fetch begins.
    func noteFetch(of zoneID: CKRecordZone.ID, in database: DatabaseKey) {
        state.withLock { state in
            guard !state.order.isEmpty else { return }
            let gone = state.order.filter { $0.database == database && $0.recordID.zoneID == zoneID }
            for name in gone { state.outcomes[name] = nil }
            state.order.removeAll { state.outcomes[$0] == nil }
        }
    }

    /// The server took a change.
    func note(_ outcome: Outcome, of recordID: CKRecord.ID, in database: DatabaseKey) {
        let name = Name(recordID: recordID, database: database)
        state.withLock { state in
            guard state.outcomes.updateValue(outcome, forKey: name) == nil else { return }
            state.order.append(name)
            if state.order.count > Self.recordsMax { state.outcomes[state.order.removeFirst()] = nil }
        }
    }

    /// What the server did last with a change of the record since a fetch of its zone began.
    func outcome(of recordID: CKRecord.ID, in database: DatabaseKey) -> Outcome? {
        state.withLock { $0.outcomes[Name(recordID: recordID, database: database)] }
    }
}
