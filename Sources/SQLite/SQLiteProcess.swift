import CSQLite

/// Settings of SQLite for the whole process. Only a program's own `main` should change them, not a library.
package enum SQLiteProcess {
    /// Turns off SQLite's memory statistics, for which each allocation takes a process-wide lock: 9 % of the
    /// simulation's time. Call it before anything else of SQLite; later it does nothing.
    /// - Returns: True if they are off.
    @discardableResult
    package static func turnOffMemoryStatistics() -> Bool {
        csqlite_turn_off_memory_statistics() == SQLITE_OK
    }
}
