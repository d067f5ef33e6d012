extension CKDatabase {
    /// A change of a zone.
    public enum DatabaseChange {
        /// A zone that is new or has changed records.
        public struct Modification: Hashable, Sendable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A zone that was deleted.
        public struct Deletion: Hashable, Sendable {
            /// The reason of a zone's deletion.
            public enum Reason: Hashable, Sendable {
                /// An app deleted it.
                case deleted
                /// The user deleted it by hand. Delete its local data, and don't upload it again.
                case purged
                /// The user reset their encrypted data.
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID
            /// The reason of the deletion.
            public let reason: Reason
            /// True if the user deleted it by hand.
            @available(*, deprecated, renamed: "reason")
            public var purged: Bool { reason == .purged }
        }
    }

    /// A change of a record.
    public enum RecordZoneChange {
        /// A record that is new or changed.
        public struct Modification: Hashable, Sendable {
            /// The current record.
            public let record: CKRecord
        }

        /// A record that was deleted.
        public struct Deletion: Hashable, Sendable {
            /// The record.
            public let recordID: CKRecord.ID
            /// The type of the record.
            public let recordType: CKRecord.RecordType
        }
    }
}
