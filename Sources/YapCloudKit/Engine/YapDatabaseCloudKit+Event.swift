public import CloudKit

extension YapDatabaseCloudKit {
    /// What happened with the uploads.
    public enum Event: Sendable {
        /// `suspend()` or `resume()` was called, or an operation failed and left the uploads suspended.
        case suspendCountChanged(Int)
        /// `resume()` was called at a suspend count of 0: a mistake of the app's, which changed nothing.
        case resumedTooOften
        /// An operation with this batch begins.
        case inFlight(Batch)
        /// All of the batch is in the cloud, and that is written here. `next` is the change-set that waits first in
        /// this database now; nil when none does. It is the same change-set when more of it is left.
        case completed(Batch, next: String?)
        /// The operation failed, or some of its items did; the batch has what succeeded.
        case failed(Batch, CKError)
    }

    /// What one operation sends: a change-set, or a part of a large one.
    public struct Batch: Hashable, Sendable {
        /// The change-set's name.
        public let changeSetUUID: String
        /// Which cloud database; nil is the private database of the default container.
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
