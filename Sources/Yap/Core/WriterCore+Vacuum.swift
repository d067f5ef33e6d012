import SQLite

extension WriterCore {
    /// How long readers are waited for before the file is cut.
    private static let vacuumReadersMilliseconds: Int32 = 500

    /// Rebuilds the file without its free pages. No row changes, so there is no commit, and the caches stay.
    ///
    /// - Throws: `YapDatabaseError`: `diskFull`, `busy`; `CancellationError` if `isCancelled` returned true.
    func vacuum(isCancelled: () -> Bool) throws {
        do {
            try store.sqlite.vacuum(
                readersMilliseconds: Self.vacuumReadersMilliseconds, whenCopied: leaveLog,
                isCancelled: isCancelled)
        } catch let error as SQLiteError {
            throw error.isInterrupted ? CancellationError() : YapDatabaseError(error, path: store.sqlite.path)
        }
    }
}

extension YapDatabase.Blocking {
    /// Makes the file smaller: rebuilds it without the pages that removed rows have left free.
    ///
    /// Later writes use free pages anyway, so this is worth its time only after very much was removed. Readers go on
    /// meanwhile, in this process and in others. Writers wait: those of other processes throw `busy` if it takes longer
    /// than their `busyTimeoutMilliseconds`. On the disk it needs up to twice the bytes of what the file has, for a
    /// copy and the log. If a reader is in an older snapshot at the end, the file becomes smaller with a later commit.
    ///
    /// - Throws: `YapDatabaseError`: `diskFull` or `busy`, and the file is as it was; `nestedTransaction` inside of a
    ///   write transaction; `closed`.
    @available(*, noasync, message: "call `try await database.vacuum()`")
    public func vacuum() throws { try vacuum { false } }

    /// The same, given up when `isCancelled` returns true: then it throws `CancellationError`.
    @available(*, noasync, message: "call `try await database.vacuum()`")
    package func vacuum(isCancelled: () -> Bool) throws {
        try database.writer.withCore { try $0.vacuum(isCancelled: isCancelled) }
    }
}
