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

    /// The pending changes of an engine.
    public final class State: Sendable, CustomStringConvertible {
        private struct Pending {
            var records: [PendingRecordZoneChange] = []
            var zones: [PendingDatabaseChange] = []
            var hasUntracked = false
        }

        private let pending = Lock(Pending())

        init() {}

        /// The changes of records, in the order in which they were first added. A record has one: the last added kind.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { pending.withLock { $0.records } }

        /// The changes of zones, in the order in which they were first added. A zone has one.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { pending.withLock { $0.zones } }

        /// True if the app has changes that it doesn't list here.
        public var hasPendingUntrackedChanges: Bool {
            get { pending.withLock { $0.hasUntracked } }
            set { pending.withLock { $0.hasUntracked = newValue } }
        }

        /// The zones with unfetched changes on the server: none, because the engine doesn't fetch.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { [] }

        /// Adds changes of records. A change replaces a pending change of another kind of the same record.
        public func add(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            pending.withLock { $0.records = Self.adding(changes, to: $0.records) { $0.recordID } }
        }

        /// Removes changes of records.
        public func remove(pendingRecordZoneChanges changes: [PendingRecordZoneChange]) {
            let gone = Set(changes)
            pending.withLock { $0.records.removeAll { gone.contains($0) } }
        }

        /// Adds changes of zones. A change replaces a pending change of another kind of the same zone.
        public func add(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            pending.withLock { $0.zones = Self.adding(changes, to: $0.zones) { $0.zoneID } }
        }

        /// Removes changes of zones.
        public func remove(pendingDatabaseChanges changes: [PendingDatabaseChange]) {
            let gone = Set(changes)
            pending.withLock { $0.zones.removeAll { gone.contains($0) } }
        }

        /// The number of pending changes, for logs.
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
            /// The type's name, for logs, without its contents.
            public var description: String { "Serialization()" }
        }
    }

    /// Changes that go to the server in one request.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// The records to save.
        public var recordsToSave: [CKRecord]
        /// The records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// True if all changes of a zone are saved or none.
        public var atomicByZone: Bool

        /// Maximum changes in a batch and in a request.
        private static let changesMax = 400

        /// Takes the first `pendingChanges` in their order, up to the limit of a request. Skips a record that
        /// `recordProvider` doesn't have.
        /// - Returns: nil if no change is left.
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

        /// The number of changes, for logs.
        public var description: String {
            "RecordZoneChangeBatch(\(recordsToSave.count) to save, \(recordIDsToDelete.count) to delete)"
        }
    }
}
