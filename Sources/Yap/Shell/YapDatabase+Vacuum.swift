import System

extension YapDatabase {
    /// Makes the file smaller: rebuilds it without the free pages of removed rows.
    ///
    /// Later writes reuse free pages, so this is worth its time only after large removals. Reads continue meanwhile,
    /// in this process and in others. Writes wait; those of other processes throw `busy` if it takes longer than
    /// their `busyTimeoutMilliseconds`. The disk needs up to twice the file's size, for a copy and the log. If a
    /// reader is at an older snapshot at the end, the file becomes smaller with a later commit.
    ///
    /// - Throws: `YapDatabaseError`: `diskFull` or `busy`; `CancellationError` if the task is cancelled. The file
    ///   isn't changed then.
    public func vacuum() async throws {
        try Task.checkCancellation()
        let isCancelled = Lock(false)
        try await withTaskCancellationHandler {
            try await exclusively { try $0.vacuum { isCancelled.withLock { $0 } } }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}
