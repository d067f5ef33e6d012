import CSQLite

/// What holds for all of SQLite in a process. For a program's own `main` alone: a library has no say in it.
package enum SQLiteProcess {
    /// Turns off SQLite's statistics of its memory, for which each allocation takes one lock of the process: 9 % of the
    /// simulation's time. Call it before anything else of SQLite; later it does nothing.
    /// - Returns: Whether they are off.
    @discardableResult
    package static func turnOffMemoryStatistics() -> Bool {
        csqlite_turn_off_memory_statistics() == SQLITE_OK
    }
}
