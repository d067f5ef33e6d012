import SQLite

/// A store's file, opened for reading only, even while a server has it open. It is never made, upgraded or changed.
package final class StoreFile {
    /// Path of the file.
    package let path: String
    private let connection: Connection

    /// Opens the store's file at `path`. Nil if it doesn't exist because nothing was ever stored.
    ///
    /// - Throws: `CloudStoreError` if it can't be opened, isn't a store's file, or is of an earlier version.
    package init?(path: String) throws {
        guard !ControlStore.isAbsent(path) else { return nil }
        self.path = path
        var options = OpenOptions()
        options.readOnly = true
        let (connection, isPrepared) = try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: options)
            return (connection, try SQLiteStoreFormat.isPrepared(connection, path: path))
        }
        // A server that is making the file hasn't made its tables yet.
        guard isPrepared else { return nil }
        try SQLiteStoreFormat.checkCurrent(connection, path: path)
        self.connection = connection
    }

    /// Returns true if a file exists at `path`, of any format.
    package static func exists(at path: String) -> Bool { !ControlStore.isAbsent(path) }

    /// Runs `body` on one snapshot, with the connection itself.
    func inspect<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try CloudStoreError.translating(path: path) {
            try connection.transaction(.deferred) { try body(connection) }
        }
    }

    /// Runs `body` on one snapshot of the committed rows.
    package func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try CloudStoreError.translating(path: path) {
            try connection.transaction(.deferred) { try body(SQLiteStoreTransaction(connection)) }
        }
    }
}

@available(*, unavailable) extension StoreFile: Sendable {}
