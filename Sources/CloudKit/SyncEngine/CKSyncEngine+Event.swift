extension CKSyncEngine {
    /// An event of an engine.
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine has a new state, which the app must store.
        case stateUpdate(StateUpdate)
        /// The signed-in user changed.
        case accountChange(AccountChange)
        /// Zones changed in the cloud.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records changed in the cloud.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// Zones were sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// Records were sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// A fetch begins.
        case willFetchChanges(WillFetchChanges)
        /// The fetch of a zone begins.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The fetch of a zone has ended.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// A fetch has ended.
        case didFetchChanges(DidFetchChanges)
        /// Sending begins.
        case willSendChanges(WillSendChanges)
        /// Sending has ended.
        case didSendChanges(DidSendChanges)

        /// A description of the event, for logs.
        public var description: String {
            switch self {
            case .stateUpdate(let event): event.description
            case .accountChange(let event): event.description
            case .fetchedDatabaseChanges(let event): event.description
            case .fetchedRecordZoneChanges(let event): event.description
            case .sentDatabaseChanges(let event): event.description
            case .sentRecordZoneChanges(let event): event.description
            case .willFetchChanges(let event): event.description
            case .willFetchRecordZoneChanges(let event): event.description
            case .didFetchRecordZoneChanges(let event): event.description
            case .didFetchChanges(let event): event.description
            case .willSendChanges(let event): event.description
            case .didSendChanges(let event): event.description
            }
        }
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// The state that the app must store, and pass to the next engine.
        public let stateSerialization: CKSyncEngine.State.Serialization

        /// The event's name, for logs.
        public var description: String { "StateUpdate()" }
    }

    /// The signed-in user changed: another user is signed in, or no user.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// The kind of an account change.
        public enum ChangeType: Hashable, Sendable, CustomStringConvertible {
            /// A user signed in.
            case signIn(currentUser: CKRecord.ID)
            /// The user signed out.
            case signOut(previousUser: CKRecord.ID)
            /// One user signed out, and another user signed in.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)

            /// The change, for logs.
            public var description: String {
                switch self {
                case .signIn(let user): "signIn(\(user.recordName))"
                case .signOut(let user): "signOut(\(user.recordName))"
                case .switchAccounts(let previous, let current):
                    "switchAccounts(\(previous.recordName), \(current.recordName))"
                }
            }
        }

        /// The kind of the change.
        public let changeType: ChangeType

        /// The change, for logs.
        public var description: String { "AccountChange(\(changeType))" }
    }

    /// Zones that changed in the cloud.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// Zones that are new or changed.
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        /// The deleted zones.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        /// The numbers of items, for logs.
        public var description: String {
            "FetchedDatabaseChanges(\(modifications.count) modifications, \(deletions.count) deletions)"
        }
    }

    /// Records that changed in the cloud.
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// Records that are new or changed.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        /// The deleted records.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]

        /// The numbers of items, for logs.
        public var description: String {
            "FetchedRecordZoneChanges(\(modifications.count) modifications, \(deletions.count) deletions)"
        }
    }

    /// The results of sent zones.
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// A zone that wasn't saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone.
            public let zone: CKRecordZone
            /// The error.
            public let error: CKError

            /// The zone and the error, for logs.
            public var description: String {
                "FailedZoneSave(\(zone.zoneID): \(error.localizedDescription))"
            }
        }

        /// Zones that were saved.
        public let savedZones: [CKRecordZone]
        /// Zones that weren't saved, with their errors.
        public let failedZoneSaves: [FailedZoneSave]
        /// IDs of the zones that were deleted.
        public let deletedZoneIDs: [CKRecordZone.ID]
        /// IDs of the zones that weren't deleted, with their errors.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        /// The numbers of items, for logs.
        public var description: String {
            """
            SentDatabaseChanges(\(savedZones.count) saved, \(failedZoneSaves.count) failed, \
            \(deletedZoneIDs.count) deleted, \(failedZoneDeletes.count) not deleted)
            """
        }
    }

    /// The results of sent records.
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// A record that wasn't saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record.
            public let record: CKRecord
            /// The error.
            public let error: CKError

            /// The record and the error, for logs.
            public var description: String {
                "FailedRecordSave(\(record.recordID): \(error.localizedDescription))"
            }
        }

        /// Records that were saved.
        public let savedRecords: [CKRecord]
        /// Records that weren't saved, with their errors.
        public let failedRecordSaves: [FailedRecordSave]
        /// IDs of the records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]
        /// IDs of the records that weren't deleted, with their errors.
        public let failedRecordDeletes: [CKRecord.ID: CKError]

        /// The numbers of items, for logs.
        public var description: String {
            """
            SentRecordZoneChanges(\(savedRecords.count) saved, \(failedRecordSaves.count) failed, \
            \(deletedRecordIDs.count) deleted, \(failedRecordDeletes.count) not deleted)
            """
        }
    }

    /// A fetch begins.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options.
        public let context: CKSyncEngine.FetchChangesContext

        /// The reason and the options, for logs.
        public var description: String { "WillFetchChanges(\(context))" }
    }

    /// The fetch of a zone begins.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        /// The zone, for logs.
        public var description: String { "WillFetchRecordZoneChanges(\(zoneID))" }
    }

    /// The fetch of a zone has ended.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID
        /// The error, or nil after success.
        public let error: CKError?

        /// The zone and the error, for logs.
        public var description: String {
            "DidFetchRecordZoneChanges(\(zoneID): \(error?.localizedDescription ?? "no error"))"
        }
    }

    /// A fetch has ended.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options.
        public let context: CKSyncEngine.FetchChangesContext

        /// The reason and the options, for logs.
        public var description: String { "DidFetchChanges(\(context))" }
    }

    /// Sending begins.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options.
        public let context: CKSyncEngine.SendChangesContext

        /// The reason and the options, for logs.
        public var description: String { "WillSendChanges(\(context))" }
    }

    /// Sending has ended.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options.
        public let context: CKSyncEngine.SendChangesContext

        /// The reason and the options, for logs.
        public var description: String { "DidSendChanges(\(context))" }
    }
}
