public import CloudKit

extension YapDatabaseCloudKit {
    /// An event of the uploads.
    public enum Event: Sendable {
        /// `suspend()` or `resume()` was called, or an operation failed and suspended the uploads.
        case suspendCountChanged(Int)
        /// `resume()` was called at a suspend count of 0. This mistake of the app has no effect.
        case resumedTooOften
        /// An operation with this batch begins.
        case inFlight(Batch)
        /// All of the batch is in the cloud, which is noted in the database. `next` is the first pending change-set of
        /// this cloud database, or nil if none is pending. It is the same change-set if a part of it is still pending.
        case completed(Batch, next: String?)
        /// The operation failed, or some of its items did. The batch has the items that succeeded.
        case failed(Batch, CKError)
    }

    /// The content of one operation: a change-set, or a part of a large one.
    public struct Batch: Hashable, Sendable {
        /// Name of the change-set.
        public let changeSetUUID: String
        /// Identifier of the cloud database; nil is the private database of the default container.
        public let databaseIdentifier: String?
        /// The records that are saved.
        public let savedRecordIDs: [CKRecord.ID]
        /// The records that are deleted.
        public let deletedRecordIDs: [CKRecord.ID]

        package init(
            changeSetUUID: String, databaseIdentifier: String?, savedRecordIDs: [CKRecord.ID],
            deletedRecordIDs: [CKRecord.ID]
        ) {
            self.changeSetUUID = changeSetUUID
            self.databaseIdentifier = databaseIdentifier
            self.savedRecordIDs = savedRecordIDs
            self.deletedRecordIDs = deletedRecordIDs
        }
    }
}
