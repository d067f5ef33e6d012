import SQLite
import System

/// Whether the task of an asynchronous transaction was cancelled. The thread that runs the transaction asks at each
/// call; a statement of a read ends in its middle.
final class TransactionCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// That of the read that runs.
        var interrupter: Connection.Interrupter?
    }

    private let state = Lock(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // With the lock held: later the connection may run the read of another task.
            state.interrupter?.interrupt()
        }
    }

    /// Throws `CancellationError` if the task was cancelled.
    func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs a read of the task on a connection.
    func interrupting<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result {
        try check()
        state.withLock { $0.interrupter = connection.interrupter }
        defer { state.withLock { $0.interrupter = nil } }
        do {
            return try body()
        } catch let error where isCancelled && (error is SQLiteError || error is YapDatabaseError) {
            throw CancellationError()
        }
    }
}
