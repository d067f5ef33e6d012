/// The writer behind its lock. It runs one transaction at a time in this instance, on the caller's thread.
final class Writer: Sendable {
    private let core: OwnedLock<WriterCore?>
    private let publisher: CommitPublisher

    init(_ core: WriterCore, publisher: CommitPublisher) {
        self.core = OwnedLock(core, name: "the writer")
        self.publisher = publisher
    }

    /// True if this thread is inside a write transaction.
    var isMine: Bool { core.isMine }

    /// Runs `body` with the writer. Then, with no lock held, notifies observers of its commits.
    func withCore<Result>(_ body: (WriterCore) throws -> Result) throws -> Result {
        var leftovers: [Any] = []
        defer {
            withExtendedLifetime(leftovers) {}
            tellObservers()
        }
        return try core.withLock { core in
            guard let core else { throw YapDatabaseError(.closed, "the database was closed") }
            defer {
                core.maintain()
                leftovers = core.takeLeftovers()
            }
            return try body(core)
        }
    }

    /// Does the same if no thread, including this one, has the writer. Otherwise returns nil.
    func withCoreIfFree<Result>(_ body: (WriterCore) throws -> Result) rethrows -> Result? {
        defer { tellObservers() }
        return try core.withLockIfFree { core -> Result? in
            guard let core else { return nil }
            defer { core.maintain() }
            return try body(core)
        } ?? nil
    }

    /// Notifies observers of new commits, unless this thread is inside a write transaction. They are then notified at
    /// its end, when they can begin transactions of their own.
    func tellObservers() {
        if !core.isMine { publisher.drain() }
    }

    /// Records that this thread waits for the writing thread, which holds the writer while it works. The completion
    /// of the request calls `LockWaits.end`.
    ///
    /// - Throws: `YapDatabaseError` with `deadlock`.
    func beginWaiting() throws { try core.beginWaiting() }

    /// Closes the file's handle when no transaction is running.
    func close() throws {
        // Released after the lock, because it owns objects and extensions of the app.
        _ = try core.withLock { core in
            defer { core = nil }
            core?.log.close()
            return core
        }
    }
}
