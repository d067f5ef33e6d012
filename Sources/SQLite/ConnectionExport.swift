import CSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Connection {
    /// Copies the database as it is now to a new file with another key, while others go on reading and writing.
    ///
    /// Rows are copied one by one by SQLCipher: a backup copies pages, which have one key.
    ///
    /// - Parameters:
    ///   - path: The file to create. Only its owner can read it.
    ///   - key: Its key; nil for a file without encryption.
    /// - Throws: `SQLiteError`: `isEncryptionUnavailable`; `isCannotOpen` if a file exists at `path`, which stays as it
    ///   is; else nothing is left at `path`.
    package func export(to path: String, encryptionKey key: EncryptionKey?) throws {
        precondition(!isInTransaction, "an export reads in a transaction of its own")
        guard Self.hasEncryption else { throw Self.encryptionUnavailable }
        // A name that SQLite takes for memory or a URI is that of a file here.
        let path = path.hasPrefix("/") ? path : "./" + path
        guard try Self.createNew(path) else {
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
            Self.removeDatabase(path)
            throw error
        }
    }

    /// Creates an empty file that its owner alone can read: SQLite would let everybody read it. Returns false if a file
    /// exists, which isn't opened: closing it would release the locks that this process has on it.
    static func createNew(_ path: String) throws -> Bool {
        let file = systemOpen(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return false }
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: String(cString: strerror(errno)))
        }
        _ = systemClose(file)
        return true
    }

    /// Removes a file that `createNew` made, and what SQLite made beside it.
    static func removeDatabase(_ path: String) {
        for ending in ["", "-journal", "-wal", "-shm"] { unlink(path + ending) }
    }
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemClose(_ file: Int32) -> Int32 { close(file) }
