extension YapDatabaseConnection {
    /// Runs `body` on the newest snapshot, on a thread of the database's own, and returns what it returns.
    ///
    /// Cancelling the task has an effect only before the read is queued.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError` of code `closed` or what the
    ///   file gave.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        try await readTracked(tracksReads: false, body).result
    }

    /// Runs `body` in a write transaction, on the database's writing thread, and returns what it returned
    /// once that is committed. Writes that wait at the same time share one commit; each succeeds or fails
    /// alone.
    ///
    /// Cancelling the task has an effect only before the write is queued.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError` of code `busy`, `diskFull`,
    ///   `closed`, ... In each case nothing of the transaction is kept, on disk or in memory. `body` never
    ///   runs twice.
    public func readWrite<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadWriteTransaction) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            let request = MemberRequest(body) { continuation.resume(with: $0) }
            database.shell.write(request, database.writer)
        }
    }

    func readTracked<Result: Sendable>(
        tracksReads: Bool, _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> (result: Result, reads: ReadDependencies?) {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            database.shell.read(jobs) {
                continuation.resume(with: Swift.Result { try self.readNow(tracksReads: tracksReads, body) })
            }
        }
    }
}
