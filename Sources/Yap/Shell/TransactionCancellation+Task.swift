extension TransactionCancellation {
    /// Runs `body` with a cancellation that follows the current task.
    static func ofTask<Result>(
        _ body: (TransactionCancellation) async throws -> Result
    ) async rethrows -> Result {
        let cancellation = TransactionCancellation()
        return try await withTaskCancellationHandler {
            try await body(cancellation)
        } onCancel: {
            cancellation.cancel()
        }
    }
}
