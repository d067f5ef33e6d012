internal import CloudKit
internal import Foundation
internal import System

/// The server's responses to changes of this device since the token of their zone was read for a fetch. A page that is
/// fetched meanwhile may be older than a response.
///
/// They are kept in memory only, because a fetch ends with its process.
final class WritesSinceFetch: Sendable {
    enum Outcome: Sendable {
        /// The server saved the change, or returned its own version in a conflict. The row has that version.
        case known
        /// The server deleted the record. The time is that of the last version that was known here.
        case deleted(lastModification: Date?)
    }

    /// Maximum number of records. The oldest are removed first.
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
        /// The names in the order in which they were noted.
        var order: [Name] = []
        /// Zones with outcomes that were removed, because there were too many.
        var forgotten: Set<Zone> = []
    }

    private let state = Lock(State())

    /// Notes that a zone's token is read, which begins a fetch.
    func noteFetch(of zoneID: CKRecordZone.ID, in database: DatabaseKey) {
        state.withLock { state in
            guard !state.order.isEmpty else { return }
            state.forgotten.remove(Zone(zoneID: zoneID, database: database))
            let gone = state.order.filter { $0.database == database && $0.recordID.zoneID == zoneID }
            for name in gone { state.outcomes[name] = nil }
            state.order.removeAll { state.outcomes[$0] == nil }
        }
    }

    /// Notes the server's response to a change.
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

    /// Returns true if the server may have had the record since a fetch of its zone began.
    func mayHaveHad(_ recordID: CKRecord.ID, in database: DatabaseKey) -> Bool {
        state.withLock { state in
            if let outcome = state.outcomes[Name(recordID: recordID, database: database)] {
                if case .known = outcome { return true }
                return false
            }
            return state.forgotten.contains(Zone(zoneID: recordID.zoneID, database: database))
        }
    }

    /// Returns the server's last response to a change of the record since a fetch of its zone began.
    func outcome(of recordID: CKRecord.ID, in database: DatabaseKey) -> Outcome? {
        state.withLock { $0.outcomes[Name(recordID: recordID, database: database)] }
    }
}
