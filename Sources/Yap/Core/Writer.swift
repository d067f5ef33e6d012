/// The writer behind its lock: one transaction at a time in this instance, on whichever thread asks.
final class Writer: Sendable {
    private let core: OwnedLock<WriterCore?>
    private let publisher: CommitPublisher

    init(_ core: WriterCore, publisher: CommitPublisher) {
        self.core = OwnedLock(core, name: "the writer")
        self.publisher = publisher
    }

    /// Whether this thread is inside of a write transaction.
    var isMine: Bool { core.isMine }

    /// Runs `body` with the writer, and then, with no lock held, tells observers of what it committed.
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

    /// Does the same if no thread has the writer, this one included; else returns nil.
    func withCoreIfFree<Result>(_ body: (WriterCore) throws -> Result) rethrows -> Result? {
        defer { tellObservers() }
        return try core.withLockIfFree { core -> Result? in
            guard let core else { return nil }
            defer { core.maintain() }
            return try body(core)
        } ?? nil
    }

    /// Tells observers of what is new, unless this thread is inside a write transaction: at its end they are
    /// told anyway, and can then begin transactions of their own.
    func tellObservers() {
        if !core.isMine { publisher.drain() }
    }

    /// Notes that this thread waits for the writing thread, which holds the writer while it works. The request's answer
    /// calls `LockWaits.end`.
    ///
    /// - Throws: `YapDatabaseError` of code `deadlock`.
    func beginWaiting() throws { try core.beginWaiting() }

    /// Closes the file's handle when no transaction runs.
    func close() throws {
        // Released after the lock: it holds objects and extensions of the app.
        _ = try core.withLock { core in
            defer { core = nil }
            core?.log.close()
            return core
        }
    }
}
