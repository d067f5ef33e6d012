import SQLite

/// The reading side of one connection: its own SQLite handle, and one snapshot for each transaction.
final class ReaderCore {
    let store: StoreConnection
    private let log: CommitLog

    init(_ store: StoreConnection, log: CommitLog) {
        self.store = store
        self.log = log
    }

    /// Runs `body` on the newest snapshot.
    ///
    /// - Parameters:
    ///   - connection: The connection that reads.
    ///   - tracksReads: Whether to record the reads of `body`.
    ///   - userInfo: Receives the transaction's `userInfo`, to be released with no lock held.
    ///   - cancellation: The cancellation of the reading task, or nil.
    func read<Result>(
        by connection: YapDatabaseConnection, tracksReads: Bool, userInfo: inout Any?,
        cancellation: TransactionCancellation?,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> (result: Result, reads: ReadDependencies?) {
        try begin()
        defer { try? store.sqlite.rollback() }
        return try run(
            by: connection, tracksReads: tracksReads, userInfo: &userInfo, cancellation: cancellation, body)
    }

    private func run<Result>(
        by connection: YapDatabaseConnection?, tracksReads: Bool, userInfo: inout Any?,
        cancellation: TransactionCancellation?,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> (result: Result, reads: ReadDependencies?) {
        guard let cancellation else {
            return try run(by: connection, tracksReads: tracksReads, userInfo: &userInfo, body)
        }
        return try cancellation.interrupting(store.sqlite) {
            try run(by: connection, tracksReads: tracksReads, userInfo: &userInfo) { transaction in
                transaction.cancellation = cancellation
                return try body(transaction)
            }
        }
    }

    private func run<Result>(
        by connection: YapDatabaseConnection?, tracksReads: Bool, userInfo: inout Any?,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> (result: Result, reads: ReadDependencies?) {
        let transaction = YapDatabaseReadTransaction(store, connection)
        defer {
            userInfo = transaction.userInfo
            transaction.end()
        }
        if tracksReads { transaction.dependencies = ReadDependencies() }
        do {
            let result = try body(transaction)
            if let failure = transaction.iterationError ?? transaction.failure ?? store.lostTransaction {
                throw failure
            }
            return (result, transaction.dependencies)
        } catch let error as SQLiteError {
            // The error of an extension's own statement.
            throw store.noted(error)
        }
    }

    // MARK: A snapshot that is held

    /// True if a snapshot is held.
    var isHolding: Bool { store.sqlite.isInTransaction }

    /// Releases the held snapshot, if any, and holds the newest one.
    func hold() throws {
        try? store.sqlite.rollback()
        try begin()
        do {
            // Later a process may register another version of an extension, which isn't the version of this snapshot.
            for entry in store.extensions { try entry.check(store) }
        } catch {
            letGo()
            throw error
        }
    }

    /// Releases the held snapshot.
    func letGo() { try? store.sqlite.rollback() }

    /// Runs `body` on the held snapshot. After an error that ends SQLite's transaction, none is held. Parameters: see
    /// `read`.
    func readHeld<Result>(
        userInfo: inout Any?, cancellation: TransactionCancellation?,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> Result {
        try run(by: nil, tracksReads: false, userInfo: &userInfo, cancellation: cancellation, body).result
    }

    /// Returns the commits from another mark to the snapshot.
    func commits(since mark: SnapshotMark) -> [YapDatabaseCommit] { log.commits(from: mark, to: store.mark) }

    /// Returns true once for each read that found an extension which the writer can update.
    func takeWantsHealing() -> Bool {
        defer { store.wantsHealing = false }
        return store.wantsHealing
    }

    func backup(to path: String, progress: (Double) throws -> Void) throws {
        do {
            try store.sqlite.backup(to: path) { remaining, total in
                try progress(total == 0 ? 1 : Double(total - remaining) / Double(total))
            }
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
    }

    func export(to path: String, encryptionKey: EncryptionKey?) throws {
        do {
            try store.sqlite.export(to: path, encryptionKey: encryptionKey)
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
    }

    /// Begins a transaction. SQLite takes the snapshot at the first read, not at BEGIN, so this reads the
    /// snapshot's number.
    private func begin() throws {
        do {
            try store.sqlite.begin(.deferred)
            store.transactionBegan()
            store.catchUp(to: try store.config.mark(), log: log)
        } catch {
            try? store.sqlite.rollback()
            throw (error as? SQLiteError).map { YapDatabaseError($0) } ?? error
        }
    }
}
