internal import CloudKit
internal import Seams

/// The records that were saved since the token of their zone was read for a fetch. A page that was under way meanwhile
/// may hold a version from before the save.
///
/// In memory: a fetch ends with its process.
final class SavesSinceFetch: Sendable {
    /// The most records; of more the oldest are forgotten.
    static let recordsMax = 1_000

    private struct Name: Hashable {
        var recordID: CKRecord.ID
        var database: DatabaseKey
    }

    private struct State {
        var names: Set<Name> = []
        /// The same in the order of their saves.
        var order: [Name] = []
    }

    private let state = Lock(State())

    /// A zone's token is read: a fetch begins.
    func noteFetch(of zoneID: CKRecordZone.ID, in database: DatabaseKey) {
        state.withLock { state in
            guard !state.order.isEmpty else { return }
            state.order.removeAll { $0.database == database && $0.recordID.zoneID == zoneID }
            state.names = Set(state.order)
        }
    }

    /// The server took a save.
    func noteSave(of recordID: CKRecord.ID, in database: DatabaseKey) {
        let name = Name(recordID: recordID, database: database)
        state.withLock { state in
            guard state.names.insert(name).inserted else { return }
            state.order.append(name)
            if state.order.count > Self.recordsMax { state.names.remove(state.order.removeFirst()) }
        }
    }

    /// Whether the server took a save of the record since a fetch of its zone began.
    func hasSave(of recordID: CKRecord.ID, in database: DatabaseKey) -> Bool {
        state.withLock { $0.names.contains(Name(recordID: recordID, database: database)) }
    }
}
