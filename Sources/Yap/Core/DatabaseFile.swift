import SQLite

/// A database's file, opened for reading only, beside the processes that may have it open: for programs that look into
/// one. It never makes, upgrades or changes one, and needs no registered collections.
package final class DatabaseFile {
    /// What the file keeps of an extension that was registered in it.
    package struct StoredExtension: Sendable {
        package let name: String
        package let className: String
        package let classVersion: Int
        package let versionTag: String
        /// Whether another process wrote without it since.
        package let hasMissedCommits: Bool
    }

    /// Where the file is.
    package let path: String
    /// The way to the tables. It can't write.
    package let sqlite: Connection
    let encryptionKey: YapDatabaseOptions.EncryptionKey?
    private let config: ConfigTable

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - encryptionKey: The key of an encrypted file.
    /// - Throws: `YapDatabaseError`, as opening it for writing does.
    package init(path: String, encryptionKey: YapDatabaseOptions.EncryptionKey? = nil) throws {
        (self.path, self.encryptionKey) = (path, encryptionKey)
        sqlite = try Self.translating(path) {
            try DatabaseSchema.openReadOnly(path: path, encryptionKey: encryptionKey?.key)
        }
        config = ConfigTable(sqlite)
    }

    /// Runs `body` on one snapshot of what is committed.
    package func read<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.translating(path) { try sqlite.transaction(.deferred) { try body() } }
    }

    /// The number of the newest commit.
    package func snapshot() throws -> UInt64 { try config.mark().number }

    /// The extensions that were registered, in the order of their names.
    package func extensions() throws -> [StoredExtension] {
        try config.extensionNames().map { name in
            StoredExtension(
                name: name, className: try config.text(extension: name, key: ConfigTable.classKey) ?? "",
                classVersion: try config.text(extension: name, key: ConfigTable.classVersionKey)
                    .flatMap { Int($0) } ?? 0,
                versionTag: try config.text(extension: name, key: ConfigTable.versionTagKey) ?? "",
                // A reader of changes always has some to read.
                hasMissedCommits: try !name.hasPrefix(ChangeReader.namePrefix)
                    && config.text(extension: name, key: ConfigTable.missedKey) != nil)
        }
    }

    /// Runs `body` outside of a transaction.
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
