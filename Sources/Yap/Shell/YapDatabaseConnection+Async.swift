extension YapDatabaseConnection {
    /// Runs `body` on the newest snapshot, on a thread of the database, and returns its result.
    ///
    /// ```swift
    /// let todo = try await connection.read { transaction in
    ///     try transaction.object(Todo.self, forKey: id, inCollection: "todos")
    /// }
    /// ```
    ///
    /// If the task is cancelled, a pending read doesn't run, and a running one ends at the next call of its
    /// transaction, or within a statement.
    ///
    /// - Parameter body: Reads with the transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; `CancellationError`; `YapDatabaseError` with `closed`,
    ///   `transactionNotPermitted`, or an error of the file.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        try await readTracked(tracksReads: false, body).result
    }

    /// Runs `body` in a write transaction, on the database's writing thread, and returns its result once it is
    /// committed. Writes that are pending at the same time share one commit; each succeeds or fails by itself.
    ///
    /// ```swift
    /// try await connection.readWrite { transaction in
    ///     try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
    /// }
    /// ```
    ///
    /// If the task is cancelled, a pending write doesn't run, and a running one fails at the next call of its
    /// transaction. Once `body` has returned, the write is committed anyway.
    ///
    /// - Parameter body: Reads and writes with the transaction. It never runs twice.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; `CancellationError`; `YapDatabaseError` with `transactionNotPermitted`, `busy`,
    ///   `diskFull`, `closed`, ... After an error, nothing of the transaction is kept, on disk or in memory.
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
    /// - Throws: `YapDatabaseError` with `closed`.
    public func flushTransactions() async throws {
        try await database.flushTransactions()
        try await queued {}
    }

    /// Releases the memory of decoded rows, pages and statements, after the reads that were queued before. The
    /// connection can still be used.
    ///
    /// Call it when the system is short of memory. `memoryUse()` returns how much is used.
    /// - Throws: `CancellationError` before it is queued.
    public func flushMemory() async throws {
        try await queued { try self.flushMemoryNow() }
    }

    /// Returns the memory that the connection uses: nothing before its first read. Throws the errors of
    /// `flushMemory()`.
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
