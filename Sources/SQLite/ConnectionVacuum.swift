import CSQLite

extension Connection {
    /// Numbers of pages of a database.
    package struct PageCounts: Hashable, Sendable {
        /// Bytes of a page.
        package let pageBytes: Int64
        /// Pages of the file, including free ones.
        package let pagesCount: Int64
        /// Pages without content.
        package let freeCount: Int64

        /// Bytes of the pages with content.
        package var usedBytes: Int64 { (pagesCount - freeCount) * pageBytes }
    }

    /// Counts the pages.
    package func pageCounts() throws -> PageCounts {
        func number(_ name: String) throws -> Int64 {
            try withStatement("PRAGMA \(name)") { try $0.step() ? $0.int64(at: 0) : 0 }
        }
        return try PageCounts(
            pageBytes: number("page_size"), pagesCount: number("page_count"),
            freeCount: number("freelist_count"))
    }

    /// Number of steps of SQLite's virtual machine between two calls of `isCancelled`.
    private static let stepsPerCall: Int32 = 100

    /// Rebuilds the file without its free pages (SQLite's `VACUUM`), then copies the log to it, which makes it
    /// smaller unless a reader still needs the log.
    ///
    /// Reads continue meanwhile; other writes wait. The log and a temporary file each need as many bytes as the pages
    /// with content.
    ///
    /// - Parameters:
    ///   - readersMilliseconds: How long to wait for readers at the end.
    ///   - isCancelled: Called repeatedly. Return true to cancel.
    /// - Throws: `SQLiteError`: `isBusy`, `isDiskFull`; `isInterrupted` if `isCancelled` returned true. The file
    ///   isn't changed then.
    package func vacuum(
        readersMilliseconds: Int32, whenCopied: () -> Void = {}, isCancelled: () -> Bool
    ) throws {
        try withoutActuallyEscaping(isCancelled) { isCancelled in
            let context = Unmanaged.passRetained(Cancellation(isCancelled))
            sqlite3_progress_handler(
                handle, Self.stepsPerCall,
                { context in
                    guard let context else { return 0 }
                    let cancellation = Unmanaged<Cancellation>.fromOpaque(context).takeUnretainedValue()
                    return cancellation.isCancelled() ? 1 : 0
                }, context.toOpaque())
            defer {
                sqlite3_progress_handler(handle, 0, nil, nil)
                context.release()
            }
            try execute("VACUUM")
        }
        do {
            try checkpoint(readersMilliseconds: readersMilliseconds, whenCopied: whenCopied)
        } catch let error as SQLiteError where error.isBusy {
            // The log contains everything, and a later checkpoint makes the file smaller.
        }
    }

    private final class Cancellation {
        let isCancelled: () -> Bool
        init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
    }
}

extension SQLiteError {
    /// True if the statement was interrupted by the caller.
    package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
}
