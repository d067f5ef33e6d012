import CSQLite

extension Connection {
    /// Ends the statements that run, from another thread.
    package struct Interrupter: @unchecked Sendable {
        // Sendable because SQLite lets any thread call `sqlite3_interrupt` while the connection is open
        // (https://www.sqlite.org/c3ref/interrupt.html).
        fileprivate let handle: OpaquePointer

        /// Ends the statements that run with `SQLITE_INTERRUPT`. The connection must be open.
        package func interrupt() { sqlite3_interrupt(handle) }
    }

    /// What ends this connection's statements. Statements that write may take their transaction along.
    package var interrupter: Interrupter { Interrupter(handle: handle) }
}
