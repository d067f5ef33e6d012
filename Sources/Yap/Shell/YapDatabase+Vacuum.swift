import System

extension YapDatabase {
    /// Makes the file smaller: rebuilds it without the pages that removed rows have left free.
    ///
    /// Later writes use free pages anyway, so this is worth its time only after very much was removed. Readers go on
    /// meanwhile, in this process and in others. Writers wait: those of other processes throw `busy` if it takes longer
    /// than their `busyTimeoutMilliseconds`. On the disk it needs up to twice the bytes of what the file has, for a
    /// copy and the log. If a reader is in an older snapshot at the end, the file becomes smaller with a later commit.
    ///
    /// - Throws: `YapDatabaseError`: `diskFull` or `busy`; `CancellationError` if the task is cancelled. The file then
    ///   is as it was.
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
