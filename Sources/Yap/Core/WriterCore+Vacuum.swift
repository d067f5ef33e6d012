import SQLite

extension WriterCore {
    /// How long to wait for readers before the file is truncated.
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
    /// Makes the file smaller: rebuilds it without the free pages of removed rows.
    ///
    /// Later writes reuse free pages, so this is worth its time only after large removals. Reads continue meanwhile,
    /// in this process and in others. Writes wait; those of other processes throw `busy` if it takes longer than
    /// their `busyTimeoutMilliseconds`. The disk needs up to twice the file's size, for a copy and the log. If a
    /// reader is at an older snapshot at the end, the file becomes smaller with a later commit.
    ///
    /// - Throws: `YapDatabaseError`: `diskFull` or `busy`, and the file isn't changed; `nestedTransaction` inside a
    ///   write transaction; `closed`.
    @available(*, noasync, message: "call `try await database.vacuum()`")
    public func vacuum() throws { try vacuum { false } }

    /// The same. Throws `CancellationError` when `isCancelled` returns true.
    @available(*, noasync, message: "call `try await database.vacuum()`")
    package func vacuum(isCancelled: () -> Bool) throws {
        try database.writer.withCore { try $0.vacuum(isCancelled: isCancelled) }
    }
}
