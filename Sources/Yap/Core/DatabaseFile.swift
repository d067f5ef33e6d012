import SQLite

/// A database's file opened read-only, beside the processes that may have it open, for tools. It never creates,
/// upgrades or changes a file, and needs no registered collections.
package final class DatabaseFile {
    /// Stored state of an extension that was registered in the file.
    package struct StoredExtension: Sendable {
        package let name: String
        package let className: String
        package let classVersion: Int
        package let versionTag: String
        /// True if another process wrote while the extension wasn't registered.
        package let hasMissedCommits: Bool
    }

    /// Path of the file.
    package let path: String
    /// Read-only connection to the tables.
    package let sqlite: Connection
    let encryptionKey: YapDatabaseOptions.EncryptionKey?
    private let config: ConfigTable

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - encryptionKey: The key of an encrypted file.
    /// - Throws: The `YapDatabaseError` of opening it for writing.
    package init(path: String, encryptionKey: YapDatabaseOptions.EncryptionKey? = nil) throws {
        (self.path, self.encryptionKey) = (path, encryptionKey)
        sqlite = try Self.translating(path) {
            try DatabaseSchema.openReadOnly(path: path, encryptionKey: encryptionKey?.key)
        }
        config = ConfigTable(sqlite)
    }

    /// Runs `body` on one snapshot of the committed state.
    package func read<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.translating(path) { try sqlite.transaction(.deferred) { try body() } }
    }

    /// Returns the number of the newest commit.
    package func snapshot() throws -> UInt64 { try config.mark().number }

    /// Returns the extensions that were registered, sorted by name.
    package func extensions() throws -> [StoredExtension] {
        try config.extensionNames().map { name in
            StoredExtension(
                name: name, className: try config.text(extension: name, key: ConfigTable.classKey) ?? "",
                classVersion: try config.text(extension: name, key: ConfigTable.classVersionKey)
                    .flatMap { Int($0) } ?? 0,
                versionTag: try config.text(extension: name, key: ConfigTable.versionTagKey) ?? "",
                // A reader of changes always has changes to read.
                hasMissedCommits: try !name.hasPrefix(ChangeReader.namePrefix)
                    && config.text(extension: name, key: ConfigTable.missedKey) != nil)
        }
    }

    /// Runs `body` outside a transaction.
    func reading<Result>(_ body: () throws -> Result) throws -> Result { try Self.translating(path, body) }

    private static func translating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
    }
}

@available(*, unavailable) extension DatabaseFile: Sendable {}
