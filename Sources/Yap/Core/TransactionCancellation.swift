import SQLite
import System

/// Whether the task of an asynchronous transaction was cancelled. The thread that runs the transaction checks it at
/// each call. A reading statement is interrupted.
final class TransactionCancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Interrupter of the running read.
        var interrupter: Connection.Interrupter?
    }

    private let state = Lock(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // The lock is held, because the connection may run the read of another task later.
            state.interrupter?.interrupt()
        }
    }

    /// Throws `CancellationError` if the task was cancelled.
    func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs a read of the task on a connection, and interrupts it when the task is cancelled.
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
