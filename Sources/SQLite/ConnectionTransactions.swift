/// How a transaction takes its locks.
public enum TransactionKind: String, Sendable {
    /// At the first read and the first write. A write after a read fails with `isBusy` if another has written between.
    case deferred = "BEGIN DEFERRED"
    /// The write lock at once, so that no later statement fails for want of it.
    case immediate = "BEGIN IMMEDIATE"
}

extension Connection {
    /// Begins a transaction.
    ///
    /// - Throws: `SQLiteError`: `isBusy` when another holds the write lock longer than the busy timeout.
    public func begin(_ kind: TransactionKind) throws {
        try run(kind.rawValue)
    }

    /// Commits. When it throws, `isInTransaction` says whether there is still something to roll back.
    ///
    /// What failed in its sync is rolled back, and taken out of the log too. A log of `checkpointFrames` is then copied
    /// into the file.
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

    /// Rolls the transaction back; does nothing when SQLite has done so already after an error.
    public func rollback() throws {
        guard isInTransaction else { return }
        try run("ROLLBACK")
    }

    /// Runs `body` in a transaction: commits when it returns, rolls back and rethrows when it or the commit throws.
    ///
    /// - Throws: What `body` throws; `SQLiteError`: also `isBusy` when a file that is read without locks, as
    ///   `OpenOptions.readOnly` describes, was written by another process.
    public func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            try checkUnchanged()
            return result
        } catch {
            // The first error is the one to report. A rollback that fails leaves nothing committed: the log ends
            // without a commit mark, or `commit` has taken it away.
            try? rollback()
            // What looks damaged may have been written meanwhile.
            try checkUnchanged()
            throw error
        }
    }

    /// Runs `body` in a savepoint: releases it when `body` returns, rolls back to it and rethrows when it throws.
    ///
    /// After an error ask `isInTransaction`: a full disk also takes the outer transaction with it, and with that the
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

    /// `name` as an SQL identifier.
    public static func quoted(_ name: String) -> String {
        // By scalars: a quote with a combining accent is one Character, and to SQLite the end of the name.
        let parts = name.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
    }

    private func undo(_ sql: SavepointSQL) {
        guard isInTransaction else { return }
        do {
            try run(sql.rollBack)
            try run(sql.release)
        } catch {
            // What can't be undone alone must not be committed with the rest: the whole transaction goes, and
            // `isInTransaction` says so.
            try? rollback()
        }
    }

    private func run(_ sql: String) throws {
        try withStatement(sql) { try $0.run() }
    }

    /// The statements of the savepoint `name`: kept, because most savepoints have the name of the one before.
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
