import SQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A store's file, opened for reading only, beside the server that may have it open. It never makes, upgrades or
/// changes one.
public final class StoreFile {
    /// Where the file is.
    public let path: String
    private let connection: Connection

    /// Opens the store's file at `path`; nil when there is none, because nothing was ever stored.
    ///
    /// - Throws: `CloudStoreError` when it can't be opened, or isn't a store's.
    public init?(path: String) throws {
        guard access(path, F_OK) == 0 else { return nil }
        self.path = path
        var options = OpenOptions()
        options.readOnly = true
        connection = try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path, options: options)
            _ = try SQLiteStoreFormat.isPrepared(connection, path: path)
            return connection
        }
    }

    /// Runs `body` on one snapshot of what is committed.
    public func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try CloudStoreError.translating(path: path) {
            try connection.transaction(.deferred) { try body(SQLiteStoreTransaction(connection, path: path)) }
        }
    }
}

@available(*, unavailable) extension StoreFile: Sendable {}
