import CSQLite

/// Settings of SQLite for the whole process. Only a program's own `main` should change them, not a library.
package enum SQLiteProcess {
    /// Turns off SQLite's memory statistics. With them, each allocation takes a process-wide lock, which was
    /// 9 % of the simulation's time. Call it before any other call of SQLite; later calls have no effect.
    /// - Returns: True if the statistics are off.
    @discardableResult
    package static func turnOffMemoryStatistics() -> Bool {
        csqlite_turn_off_memory_statistics() == SQLITE_OK
    }
}
