import CSQLite

extension Connection {
    /// Interrupts running statements from another thread.
    package struct Interrupter: @unchecked Sendable {
        // Sendable because SQLite lets any thread call `sqlite3_interrupt` while the connection is open
        // (https://www.sqlite.org/c3ref/interrupt.html).
        fileprivate let handle: OpaquePointer

        /// Ends running statements with `SQLITE_INTERRUPT`. The connection must be open.
        package func interrupt() { sqlite3_interrupt(handle) }
    }

    /// Interrupter of this connection's statements. Interrupting a writing statement may roll its transaction back.
    package var interrupter: Interrupter { Interrupter(handle: handle) }
}
