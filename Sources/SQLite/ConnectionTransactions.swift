/// How a transaction takes its locks.
public enum TransactionKind: String, Sendable {
    /// Takes the locks at the first read and the first write. A write after a read fails with `isBusy` if
    /// another connection has written in between.
    case deferred = "BEGIN DEFERRED"
    /// Takes the write lock at once, so that no later statement fails because the lock is taken.
    case immediate = "BEGIN IMMEDIATE"
}

extension Connection {
    /// Begins a transaction.
    ///
    /// - Throws: `SQLiteError`: `isBusy` if another connection holds the write lock longer than the busy timeout.
    public func begin(_ kind: TransactionKind) throws {
        try run(kind.rawValue)
    }

    /// Commits. After an error, `isInTransaction` tells whether there is still a transaction to roll back.
    ///
    /// A commit with a failed sync is rolled back, and removed from the log. A log of `checkpointFrames` is then
    /// copied to the file.
    public func commit() throws {
        do {
            try run("COMMIT")
        } catch let error as SQLiteError where error.isSyncFailure {
            try? rollback()
            overwriteFailedFrames()
            throw error
        }
        checkpointIfDue()
    }

    /// Rolls the transaction back. Does nothing if SQLite has done so already after an error.
    public func rollback() throws {
        guard isInTransaction else { return }
        try run("ROLLBACK")
    }

    /// Runs `body` in a transaction: commits when it returns, rolls back and rethrows if it or the commit throws.
    ///
    /// - Throws: The error of `body`; `SQLiteError`: also `isBusy` if a file that is read without locks, as
    ///   `OpenOptions.readOnly` describes, was written by another process.
    public func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            try checkUnchanged()
            return result
        } catch {
            // The first error is the one to report. A failed rollback leaves nothing committed: the log ends without
            // a commit mark, or `commit` has removed it.
            try? rollback()
            // Apparent damage may be a write of another process meanwhile.
            try checkUnchanged()
            throw error
        }
    }

    /// Runs `body` in a savepoint: releases it when `body` returns, rolls back to it and rethrows if it throws.
    ///
    /// After an error check `isInTransaction`: a full disk also rolls back the outer transaction, and with it
    /// savepoints that were released before.
    public func savepoint<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        let sql = savepointSQL(name)
        try run(sql.begin)
        do {
            let result = try body()
            try run(sql.release)
            return result
        } catch {
            undo(sql)
            throw error
        }
    }

    /// Returns `name` as an SQL identifier.
    public static func quoted(_ name: String) -> String {
        // By scalars: a quote with a combining accent is one Character, but ends the name in SQLite.
        let parts = name.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
    }

    private func undo(_ sql: SavepointSQL) {
        guard isInTransaction else { return }
        do {
            try run(sql.rollBack)
            try run(sql.release)
        } catch {
            // Writes that can't be undone separately must not be committed with the rest, so the whole transaction is
            // rolled back, which `isInTransaction` reports.
            try? rollback()
        }
    }

    private func run(_ sql: String) throws {
        try withStatement(sql) { try $0.run() }
    }

    /// Returns the statements of the savepoint `name`. Cached, because most savepoints have the same name as the
    /// previous one.
    private func savepointSQL(_ name: String) -> SavepointSQL {
        if let known = recentSavepoint, known.name == name { return known }
        let made = SavepointSQL(name)
        recentSavepoint = made
        return made
    }
}

/// The statements of one savepoint.
struct SavepointSQL {
    let name: String
    let begin: String
    let release: String
    let rollBack: String

    init(_ name: String) {
        let quoted = Connection.quoted(name)
        self.name = name
        begin = "SAVEPOINT \(quoted)"
        release = "RELEASE \(quoted)"
        rollBack = "ROLLBACK TO \(quoted)"
    }
}
