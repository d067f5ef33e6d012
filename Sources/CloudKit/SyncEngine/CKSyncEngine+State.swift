internal import System

extension CKSyncEngine {
    /// A change of a record that is to be sent.
    public enum PendingRecordZoneChange: Hashable, Sendable, CustomStringConvertible {
        /// The record is saved.
        case saveRecord(CKRecord.ID)
        /// The record is deleted.
        case deleteRecord(CKRecord.ID)

        var recordID: CKRecord.ID {
            switch self {
            case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
            }
        }

        /// The kind and the record, for logs.
        public var description: String {
            switch self {
            case .saveRecord(let recordID): "saveRecord(\(recordID))"
            case .deleteRecord(let recordID): "deleteRecord(\(recordID))"
            }
        }
    }

    /// A change of a zone that is to be sent.
    public enum PendingDatabaseChange: Hashable, Sendable, CustomStringConvertible {
        /// The zone is saved.
        case saveZone(CKRecordZone)
        /// The zone is deleted.
        case deleteZone(CKRecordZone.ID)

        var zoneID: CKRecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let zoneID): zoneID
            }
        }

        /// The kind and the zone, for logs.
        public var description: String {
            switch self {
            case .saveZone(let zone): "saveZone(\(zone.zoneID))"
            case .deleteZone(let zoneID): "deleteZone(\(zoneID))"
            }
        }
    }

    /// What an engine has to do still.
    public final class State: Sendable, CustomStringConvertible {
        private struct Pending {
            var records: [PendingRecordZoneChange] = []
            var zones: [PendingDatabaseChange] = []
            var hasUntracked = false
        }

        private let pending = Lock(Pending())

        init() {}

        /// The changes of records, in the order in which they were added first. Of a record there is one: the last kind
        /// that was added.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { pending.withLock { $0.records } }

        /// The changes of zones, in the order in which they were added first. Of a zone there is one.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { pending.withLock { $0.zones } }

        /// Whether the app has changes that it doesn't list here.
        public var hasPendingUntrackedChanges: Bool {
            get { pending.withLock { $0.hasUntracked } }
            set { pending.withLock { $0.hasUntracked = newValue } }
        }

        /// The zones of which the server has changes that weren't fetched: none, as nothing is fetched.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { [] }

        /// Adds changes of records. Another kind of change of the same record takes the place of the one that is there.
        public func add(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            pending.withLock { $0.records = Self.adding(changes, to: $0.records) { $0.recordID } }
        }

        /// Takes changes of records away.
        public func remove(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            let gone = Set(changes)
            pending.withLock { $0.records.removeAll { gone.contains($0) } }
        }

        /// Adds changes of zones. Another kind of change of the same zone takes the place of the one that is there.
        public func add(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            pending.withLock { $0.zones = Self.adding(changes, to: $0.zones) { $0.zoneID } }
        }

        /// Takes changes of zones away.
        public func remove(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            let gone = Set(changes)
            pending.withLock { $0.zones.removeAll { gone.contains($0) } }
        }

        /// How much is pending, for logs.
        public var description: String {
            let pending = pending.withLock { $0 }
            return "State(\(pending.records.count) records and \(pending.zones.count) zones pending)"
        }

        private static func adding<Change, Key: Hashable>(
            _ changes: [Change], to list: [Change], by key: (Change) -> Key
        ) -> [Change] {
            var list = list
            var places = list.enumerated().reduce(into: [:]) { $0[key($1.element)] = $1.offset }
            for change in changes {
                if let place = places[key(change)] {
                    list[place] = change
                } else {
                    places[key(change)] = list.count
                    list.append(change)
                }
            }
            return list
        }

        /// An engine's state as the app stores it. Opaque.
        public struct Serialization: Codable, Sendable, CustomStringConvertible {
            /// What it is, for logs: nothing of its contents.
            public var description: String { "Serialization()" }
        }
    }

    /// Changes that go to the server in one request.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// The records to save.
        public var recordsToSave: [CKRecord]
        /// The records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether the changes of a zone are made all or none.
        public var atomicByZone: Bool

        /// The most changes in a batch: what a request may have.
        private static let changesMax = 400

        /// Takes as many of `pendingChanges` as a request may have, in their order. A record that `recordProvider`
        /// doesn't have is passed over.
        /// - Returns: nil when no change is left.
        public init?(
            pendingChanges: [PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            for change in pendingChanges {
                guard recordsToSave.count + recordIDsToDelete.count < Self.changesMax else { break }
                switch change {
                case .saveRecord(let recordID):
                    if let record = await recordProvider(recordID) { recordsToSave.append(record) }
                case .deleteRecord(let recordID): recordIDsToDelete.append(recordID)
                }
            }
            if recordsToSave.isEmpty, recordIDsToDelete.isEmpty { return nil }
        }

        /// Makes a batch of these changes.
        public init(
            recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [], atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// How much it is, for logs.
        public var description: String {
            "RecordZoneChangeBatch(\(recordsToSave.count) to save, \(recordIDsToDelete.count) to delete)"
        }
    }
}
