extension YapDatabaseCloudKit {
    /// What may be chosen.
    public struct Options: Sendable {
        /// Collections with synced rows; nil is all. The handler isn't called for rows of other collections.
        public var allowedCollections: Set<String>?

        /// What the queue keeps of a changed value.
        public var storage: QueueStorage

        /// Whether the extension or the app handles a failed upload.
        public var failures: FailureHandling

        /// Whether a commit may join the newest change-set that waits and isn't in flight, so that the hundred
        /// values of a slider are one upload. The last value of a field is sent, with the earliest original value.
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
        /// The names of the changed fields. The object holds the value, and after a relaunch the record handler is
        /// asked for it with `YDBCKRecordInfo.keysToRestore`. What the object can't give back is kept as a value.
        case keysOnly
        /// The values. The record handler is never asked for them again.
        case values
    }

    /// Whether the extension or the app handles a failed upload.
    public enum FailureHandling: Sendable, CaseIterable {
        /// The app: each failed operation suspends the uploads by one and is handed to the operation error block once.
        /// What succeeded leaves its change-set; the rest is sent again after `resume()`.
        case app
        /// The extension, by a table with a row for each error code: it waits, merges, splits, makes zones, puts aside
        /// what the server never takes, and goes on. The operation error block hears what stops the uploads.
        case automatic
    }
}
