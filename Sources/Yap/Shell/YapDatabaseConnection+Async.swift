extension YapDatabaseConnection {
    /// Runs `body` on the newest snapshot, on a thread of the database's own, and returns what it returns.
    ///
    /// When its task is cancelled, a read that waits doesn't run, and one that runs ends: at the next call of its
    /// transaction, or in the middle of a statement.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError` of code `closed`,
    ///   `transactionNotPermitted`, or what the file gave.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        try await readTracked(tracksReads: false, body).result
    }

    /// Runs `body` in a write transaction, on the database's writing thread, and returns what it returned
    /// once that is committed. Writes that wait at the same time share one commit; each succeeds or fails
    /// alone.
    ///
    /// When its task is cancelled, a write that waits doesn't run, and one whose `body` runs fails at the next call of
    /// its transaction. Once `body` has returned, the write is committed all the same.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError` of code `transactionNotPermitted`, `busy`,
    ///   `diskFull`, `closed`, ... In each case nothing of the transaction is kept, on disk or in memory. `body` never
    ///   runs twice.
    public func readWrite<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadWriteTransaction) throws -> Result
    ) async throws -> Result {
        try check(.readWrite)
        try Task.checkCancellation()
        return try await TransactionCancellation.ofTask { cancellation in
            try await withCheckedThrowingContinuation { continuation in
                let request = MemberRequest(by: self, cancellation: cancellation, body) {
                    continuation.resume(with: $0)
                }
                database.shell.write(request, database.writer)
            }
        }
    }

    /// Waits until all asynchronous writes of the database, and all asynchronous reads of this connection, that were
    /// queued before have ended.
    ///
    /// - Throws: `YapDatabaseError` of code `closed`.
    public func flushTransactions() async throws {
        try await database.flushTransactions()
        try await queued {}
    }

    /// Releases the memory of decoded rows, of pages of the file and of statements, once the reads that were queued
    /// before have ended. The connection can be used as before.
    ///
    /// An app calls it when the system is short of memory. `memoryUse()` returns how much there is.
    /// - Throws: `CancellationError` before it is queued.
    public func flushMemory() async throws {
        try await queued { try self.flushMemoryNow() }
    }

    /// What the connection keeps in memory. Nothing before its first read. Throws as `flushMemory()`.
    public func memoryUse() async throws -> YapDatabaseMemoryUse {
        try await queued { try self.memoryUseNow() }
    }

    func readTracked<Result: Sendable>(
        tracksReads: Bool, _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> (result: Result, reads: ReadDependencies?) {
        try check(.read)
        return try await TransactionCancellation.ofTask { cancellation in
            try await queued {
                try self.readNow(tracksReads: tracksReads, cancellation: cancellation, body)
            }
        }
    }

    func queued<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await database.shell.queueRead(jobs, pending: pendingReads, body)
    }
}
