import SQLite

/// A store's file, opened for reading only, beside the server that may have it open. It never makes, upgrades or
/// changes one.
public final class StoreFile {
    /// Where the file is.
    public let path: String
    private let connection: Connection

    /// Opens the store's file at `path`; nil when there is none, because nothing was ever stored.
    ///
    /// - Throws: `CloudStoreError` when it can't be opened, isn't a store's, or is of an earlier version.
    public init?(path: String) throws {
        guard !ControlStore.isAbsent(path) else { return nil }
        self.path = path
        var options = OpenOptions()
        options.readOnly = true
        let (connection, isPrepared) = try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: options)
            return (connection, try SQLiteStoreFormat.isPrepared(connection, path: path))
        }
        // A server that is making it just now has not got as far as its tables.
        guard isPrepared else { return nil }
        try SQLiteStoreFormat.checkCurrent(connection, path: path)
        self.connection = connection
    }

    /// Whether there is a file at `path`, of whatever format.
    public static func exists(at path: String) -> Bool { !ControlStore.isAbsent(path) }

    /// Runs `body` on one snapshot with the connection itself.
    func inspect<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try CloudStoreError.translating(path: path) {
            try connection.transaction(.deferred) { try body(connection) }
        }
    }

    /// Runs `body` on one snapshot of what is committed.
    public func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try CloudStoreError.translating(path: path) {
            try connection.transaction(.deferred) { try body(SQLiteStoreTransaction(connection)) }
        }
    }
}

@available(*, unavailable) extension StoreFile: Sendable {}
