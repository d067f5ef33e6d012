import SQLite

// In `DatabaseFile` the plain name is another type.
private typealias Note = StoredExtension

extension DatabaseFile {
    /// Number of rows that may still be written without an extension.
    package struct RoomForMissedRows: Sendable {
        /// Registered name of the extension.
        package let name: String
        /// Name of its class.
        package let className: String
        /// True if it can catch up with any missed rows.
        package let catchesUp: Bool
        /// Maximum rows with which it can catch up. 0 if it can't.
        package let rowsMax: Int
    }

    /// Returns the number of rows that another process may write before a process with the registered
    /// extensions has to register them again to read them.
    ///
    /// Readers of changes, hooks, and extensions that can't catch up any more aren't counted: readers start
    /// over automatically, hooks read nothing, and the last lose nothing.
    ///
    /// - Parameter otherClass: Name of another class. Its extensions aren't counted.
    /// - Returns: The room of the extension that can miss the fewest rows, or nil if there is none.
    /// - Throws: `SQLiteError`, inside `read`.
    package func fewestMissableRows(exceptOf otherClass: String) throws -> RoomForMissedRows? {
        let hasLog =
            try number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'changes2'") > 0
        let config = ConfigTable(sqlite)
        var rooms: [RoomForMissedRows] = []
        for stored in try extensions() where !stored.name.hasPrefix(ChangeReader.namePrefix) {
            guard ![otherClass, YapDatabaseHooks<Int>.className].contains(stored.className) else { continue }
            let missed = try Note.Missed(config.text(extension: stored.name, key: ConfigTable.missedKey)) {
                hasLog ? try number("SELECT ifnull(max(position), 0) FROM changes2") : 0
            }
            let catchesUp = try config.text(extension: stored.name, key: ConfigTable.catchesUpKey) != nil
            var rowsMax = catchesUp ? MissedChangeLog.rowsMaxDefault : 0
            switch missed {
            case .unknown: continue
            case .none: break
            case .known(let after):
                rowsMax -= Int(try number("SELECT count(*) FROM changes2 WHERE position > \(after)"))
            }
            rooms.append(
                RoomForMissedRows(
                    name: stored.name, className: stored.className, catchesUp: catchesUp,
                    rowsMax: max(0, rowsMax)))
        }
        return rooms.min { $0.rowsMax < $1.rowsMax }
    }

    private func number(_ sql: String) throws -> Int64 {
        try sqlite.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }
}
