extension YapDatabaseCloudKit {
    /// Options of the extension.
    public struct Options: Sendable {
        /// Collections with synced rows; nil is all. The handler isn't called for rows of other collections.
        public var allowedCollections: Set<String>?

        /// What the queue keeps of a changed value.
        public var storage: QueueStorage

        /// Whether the extension or the app handles a failed upload.
        public var failures: FailureHandling

        /// Whether a commit may be folded into the newest pending change-set that isn't in flight, so that the hundred
        /// values of a slider are one upload. The last value of a field is sent, with the first original value.
        public var foldsQueuedChanges: Bool

        /// Makes the options.
        public init(
            allowedCollections: Set<String>? = nil, storage: QueueStorage = .keysOnly,
            failures: FailureHandling = .app, foldsQueuedChanges: Bool = false
        ) {
            self.allowedCollections = allowedCollections
            self.storage = storage
            self.failures = failures
            self.foldsQueuedChanges = foldsQueuedChanges
        }
    }

    /// What the queue keeps of a changed value.
    public enum QueueStorage: Sendable, CaseIterable {
        /// The names of the changed fields. The object has the values, and after a relaunch the record handler is
        /// called for them with `YDBCKRecordInfo.keysToRestore`. Values that the object doesn't have are stored.
        case keysOnly
        /// The values. The record handler is never called for them again.
        case values
    }

    /// Whether the extension or the app handles a failed upload.
    public enum FailureHandling: Sendable, CaseIterable {
        /// The app. Each failed operation raises the suspend count by one, and its error is passed to the operation
        /// error block once. Successful changes are removed from their change-set; the rest is sent again after
        /// `resume()`.
        case app
        /// The extension, by a table with a row for each error code. It waits, merges, splits batches, creates zones,
        /// quarantines changes that the server never accepts, and goes on. The operation error block receives the
        /// errors.
        case automatic
    }
}
