import CSQLite

extension Connection {
    /// Number of times that SQLite prepared the connection's statements again. It does so after a change of the
    /// schema, and for each new value of a parameter that it compared with the term of a partial index.
    package var repreparesCount: Int { sum(ofStatus: SQLITE_STMTSTATUS_REPREPARE) }

    /// Number of operations that the connection's prepared statements have run: about the same number for each row
    /// that they visit. Operations of finalised statements don't count.
    package var operationsCount: Int { sum(ofStatus: SQLITE_STMTSTATUS_VM_STEP) }

    private func sum(ofStatus status: Int32) -> Int {
        var (count, statement) = (0, sqlite3_next_stmt(handle, nil))
        while let next = statement {
            count += Int(sqlite3_stmt_status(next, status, 0))
            statement = sqlite3_next_stmt(handle, next)
        }
        return count
    }

    /// Finalises the cached statements, and frees the memory of unused pages.
    package func releaseMemory() {
        clearStatements()
        sqlite3_db_release_memory(handle)
    }

    /// Bytes that SQLite uses for this connection.
    package var memoryUse: (pageCacheBytes: Int, statementBytes: Int, schemaBytes: Int) {
        func bytes(_ kind: Int32) -> Int {
            var (current, highest) = (Int32(0), Int32(0))
            return sqlite3_db_status(handle, kind, &current, &highest, 0) == SQLITE_OK ? Int(current) : 0
        }
        return (
            bytes(SQLITE_DBSTATUS_CACHE_USED), bytes(SQLITE_DBSTATUS_STMT_USED),
            bytes(SQLITE_DBSTATUS_SCHEMA_USED)
        )
    }

    /// Number of pages that statements of this connection have visited, in its page cache or not.
    package var visitedPagesCount: Int {
        [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, kind in
            var (current, highest) = (Int32(0), Int32(0))
            return sqlite3_db_status(handle, kind, &current, &highest, 0) == SQLITE_OK
                ? sum + Int(current) : sum
        }
    }

    /// Maximum messages that `integrityCheck()` returns.
    public static let integrityMessagesMax = 100

    /// Checks the structure of the whole file. Returns the problems, or nothing if the file is intact.
    public func integrityCheck() throws -> [String] {
        try withStatement("PRAGMA integrity_check(\(Self.integrityMessagesMax))") { statement in
            var messages: [String] = []
            do {
                while try statement.step() { messages.append(statement.text(at: 0)) }
            } catch let error as SQLiteError where error.isCorrupt {
                // The file is too damaged to continue the check.
                messages.append(error.message)
            }
            return messages == ["ok"] ? [] : messages
        }
    }

    /// Copies the current database to `path`. Reads and writes continue meanwhile. The copy of an encrypted database
    /// has the same key.
    ///
    /// An existing database at `path` is overwritten in one transaction: it is the old or the new one, never a
    /// mixture. Only the owner can read a new file.
    /// - Parameters:
    ///   - path: The file to write. It must not be open in this connection.
    ///   - pagesPerStep: Number of pages copied between two calls of `progress`.
    ///   - progress: Called with the remaining pages and the total. Throw to cancel the copy.
    /// - Throws: `SQLiteError`, or the error of `progress`. `path` then has no new database, and no file if there was
    ///   none. Only if `isBusy` is thrown because a file that is read without locks was written meanwhile, an
    ///   existing database at `path` is overwritten with an unusable copy.
    public func backup(
        to path: String, pagesPerStep: Int32 = 256,
        progress: (_ remainingPages: Int, _ totalPages: Int) throws -> Void = { _, _ in }
    ) throws {
        precondition(pagesPerStep > 0)
        precondition(!isInTransaction, "a backup reads in a transaction of its own")
        var options = OpenOptions()
        options.busyTimeoutMilliseconds = self.options.busyTimeoutMilliseconds
        options.vfsName = self.options.vfsName
        options.encryptionKey = self.options.encryptionKey
        try NewFile.orExisting(path, vfsName: options.vfsName) {
            let target = try Connection(path: path, options: options)
            // It holds one snapshot, so that other connections' commits don't restart the copy.
            try begin(.deferred)
            defer { try? rollback() }
            try withStatement("SELECT count(*) FROM sqlite_schema") { try $0.run() }
            try copy(to: target, pagesPerStep: pagesPerStep, progress: progress)
            try checkUnchanged()
            try target.close()
        }
    }

    private func copy(
        to target: Connection, pagesPerStep: Int32, progress: (Int, Int) throws -> Void
    ) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_errcode(target.handle), database: target.handle)
        }
        var result = SQLITE_OK
        do {
            while result == SQLITE_OK {
                result = sqlite3_backup_step(backup, pagesPerStep)
                try progress(Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let finished = sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE else { throw SQLiteError(result, database: target.handle) }
        try target.check(finished)
    }
}
