import SQLite
import System

/// The reader of a long-lived read. It holds a snapshot between its transactions.
///
/// The writer may release the snapshot at any time, without waiting for a running transaction: it records the reason,
/// and the running transaction releases the snapshot at its end.
final class LongLivedReader: Sendable {
    private struct State {
        /// The commit of its snapshot, or of its last one.
        var mark = SnapshotMark(number: 0, writer: 0)
        /// The reason that no snapshot is held, or nil while one is held.
        var failure: YapDatabaseError?
        /// The reason that no snapshot will be held again, or nil until the read ends.
        var end: YapDatabaseError?

        /// Throws if no snapshot can be read.
        func check() throws {
            if let error = end ?? failure { throw error }
        }
    }

    /// Nil before its first snapshot and after its end.
    private let core: OwnedLock<ReaderCore?>
    private let state = Lock(State())
    private let idleReaders: IdleReaders

    /// - Parameter name: Name for messages.
    init(name: String, _ idleReaders: IdleReaders) {
        core = OwnedLock(nil, name: name)
        self.idleReaders = idleReaders
    }

    /// The commit of its snapshot, or of its last one.
    var mark: SnapshotMark { state.withLock { $0.mark } }

    /// Holds the newest snapshot with a reader that has no other user.
    func begin(_ reader: ReaderCore) throws {
        defer { settle() }
        try core.withLock { core in
            try reader.hold()
            core = reader
            // A commit may have expired it before it held its first snapshot.
            state.withLock { ($0.mark, $0.failure) = (reader.store.mark, nil) }
        }
    }

    /// Runs `body` on the held snapshot. Also returns whether an extension can be updated.
    ///
    /// - Parameter cancellation: The cancellation of the reading task, or nil. The snapshot stays held.
    func read<Result>(
        cancellation: TransactionCancellation? = nil,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> (result: Result, wantsHealing: Bool) {
        // Released after the lock, because it belongs to the app.
        var userInfo: Any?
        defer {
            withExtendedLifetime(userInfo) {}
            settle()
        }
        return try core.withLock { core in
            try state.withLock { try $0.check() }
            guard let core else { throw Self.ended }
            guard core.isHolding else {
                fail(Self.lost)
                throw Self.lost
            }
            defer {
                if !core.isHolding { fail(core.store.lostTransaction ?? Self.lost) }
            }
            let result = try core.readHeld(userInfo: &userInfo, cancellation: cancellation, body)
            return (result, core.takeWantsHealing())
        }
    }

    /// Releases the snapshot, and holds the newest one.
    ///
    /// - Returns: The commits in between, and the bytes of the log's file.
    func moveToNewest() throws -> (commits: [YapDatabaseCommit], logFileBytes: Int64) {
        defer { settle() }
        return try core.withLock { try move(&$0) }
    }

    /// Moves if no transaction is running. Otherwise returns nil.
    func moveToNewestIfFree() -> [YapDatabaseCommit]? {
        defer { settle() }
        return core.withLockIfFree { core in try? move(&core).commits } ?? nil
    }

    private func move(
        _ core: inout ReaderCore?
    ) throws -> (commits: [YapDatabaseCommit], logFileBytes: Int64) {
        let (before, end) = state.withLock { ($0.mark, $0.end) }
        if let end { throw end }
        guard let core else { throw Self.ended }
        do {
            try core.hold()
        } catch {
            fail((error as? YapDatabaseError) ?? Self.lost)
            throw error
        }
        state.withLock { ($0.mark, $0.failure) = (core.store.mark, nil) }
        return (core.commits(since: before), core.store.sqlite.logFileBytes)
    }

    /// Reads the same commit from the file instead of the log, if it is the newest and no transaction is running.
    /// Call it while no connection can commit, and all of the log is in the file.
    func leaveLog(at newest: SnapshotMark) {
        defer { settle() }
        _ = core.withLockIfFree { core in
            guard let core, core.isHolding, core.store.mark == newest else { return }
            do {
                try core.hold()
                if core.store.mark != newest { fail(Self.expired) }
            } catch {
                fail((error as? YapDatabaseError) ?? Self.lost)
            }
        }
    }

    /// Releases a snapshot older than `number`. Reads then throw until the read is moved.
    func expire(before number: UInt64) {
        state.withLock { if $0.mark.number < number, $0.failure == nil { $0.failure = Self.expired } }
        settle()
    }

    /// Ends the read, without waiting for a running transaction.
    func end(because error: YapDatabaseError) {
        state.withLock { if $0.end == nil { $0.end = error } }
        settle()
    }

    private func fail(_ error: YapDatabaseError) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    /// Releases the snapshot if the state requires it. If a transaction is running, it does so at its end.
    private func settle() {
        while true {
            var seen = wish
            // Released after the lock, because its caches own objects of the app.
            let outcome = core.withLockIfFree { core -> ReaderCore? in
                // With the lock held, because a move ends a failure and holds another snapshot.
                seen = wish
                if seen.letsGo { core?.letGo() }
                guard seen.ends else { return nil }
                defer { core = nil }
                return core
            }
            guard let outcome else { return }
            if let ended = outcome { idleReaders.keep(ended) }
            // Another thread that changed the state meanwhile couldn't take the lock.
            if wish == seen { return }
        }
    }

    private var wish: (letsGo: Bool, ends: Bool) {
        state.withLock { ($0.failure != nil || $0.end != nil, $0.end != nil) }
    }

    static let ended = YapDatabaseError(.transactionEnded, "the long-lived read was ended")
    static let closed = YapDatabaseError(.closed, "the database was closed")
    private static let expired = YapDatabaseError(
        .longLivedReadExpired, "the write-ahead log had become too large, and needs what the read stood at")
    private static let lost = YapDatabaseError(.sqlite, "SQLite ended the transaction of the long-lived read")
}

/// The open long-lived reads of a database.
final class LongLivedReads: Sendable {
    private struct State {
        var readers: [LongLivedReader] = []
        var isClosed = false
    }

    let readersMax: Int
    private let state = Lock(State())

    init(readersMax: Int) { self.readersMax = readersMax }

    private var readers: [LongLivedReader] { state.withLock { $0.readers } }

    var isEmpty: Bool { readers.isEmpty }

    /// - Throws: `YapDatabaseError`: `tooManyLongLivedReads`, `closed`.
    func add(_ reader: LongLivedReader) throws {
        try state.withLock { state in
            if state.isClosed { throw LongLivedReader.closed }
            guard state.readers.count < readersMax else {
                throw YapDatabaseError(
                    .tooManyLongLivedReads, "\(readersMax) long-lived reads of the database are open")
            }
            state.readers.append(reader)
        }
    }

    func remove(_ reader: LongLivedReader) {
        // Released after the lock, because its caches own objects of the app.
        let removed = state.withLock { state in
            let removed = state.readers.filter { $0 === reader }
            state.readers.removeAll { $0 === reader }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Lets the reads at the newest commit leave the log.
    func leaveLog(at newest: SnapshotMark) {
        for reader in readers { reader.leaveLog(at: newest) }
    }

    /// Releases the snapshots of the reads at an older commit.
    func expire(before number: UInt64) {
        for reader in readers { reader.expire(before: number) }
    }

    /// Ends all reads, and rejects new ones.
    func close() {
        let readers = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.readers
        }
        for reader in readers { reader.end(because: LongLivedReader.closed) }
    }
}
