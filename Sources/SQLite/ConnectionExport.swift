import CSQLite

extension Connection {
    /// Copies the current database to a new file with another key. Reads and writes continue meanwhile.
    ///
    /// SQLCipher copies the rows one by one, because a backup copies pages, which have one key.
    ///
    /// - Parameters:
    ///   - path: The file to create. Only its owner can read it.
    ///   - key: Its key. Nil for an unencrypted file.
    /// - Throws: `SQLiteError`: `isEncryptionUnavailable`; `isCannotOpen` if a file exists at `path`, which isn't
    ///   changed; otherwise no file is left at `path`.
    package func export(to path: String, encryptionKey key: EncryptionKey?) throws {
        precondition(!isInTransaction, "an export reads in a transaction of its own")
        guard Self.hasEncryption else { throw Self.encryptionUnavailable }
        // Makes a text a file name that SQLite would otherwise interpret as a database in memory or a URI.
        let path = path.hasPrefix("/") ? path : "./" + path
        guard try NewFile.create(path) else {
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "a file exists")
        }
        do {
            try withStatement("ATTACH DATABASE ? AS exported KEY ?") { statement in
                try statement.bind(path, at: 1)
                try statement.bind(key?.value ?? "", at: 2)
                try statement.run()
            }
            defer { try? execute("DETACH DATABASE exported") }
            try begin(.deferred)
            defer { try? rollback() }
            try withStatement("SELECT sqlcipher_export('exported')") { _ = try $0.step() }
            // Numbers in the file's header, which aren't copied.
            for name in ["application_id", "user_version"] {
                let value = try withStatement("PRAGMA main.\(name)") { try $0.step() ? $0.int64(at: 0) : 0 }
                try execute("PRAGMA exported.\(name)=\(value)")
            }
            try execute("COMMIT")
        } catch {
            NewFile.remove(path)
            throw error
        }
    }
}
