extension YapDatabase {
    /// Copies the newest snapshot to a file. Reads and writes continue meanwhile.
    ///
    /// ```swift
    /// try await database.backup(to: "/backups/todos.yap")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file to write. An existing database is replaced completely or not at all.
    ///   - progress: Called with the completed part, from 0 to 1. Throw to cancel the copy.
    /// - Throws: `YapDatabaseError`, or the error of `progress`.
    public func backup(
        to path: String, progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws {
        try Task.checkCancellation()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            shell.read(SerialJobs()) {
                continuation.resume(with: Result { try self.backup(to: path, progress) })
            }
        }
    }

    /// Copies the newest snapshot to a new file with another key, to change the key, to encrypt a database, or to
    /// make an unencrypted copy. Reads and writes continue meanwhile.
    ///
    /// ```swift
    /// try await database.backup(to: newPath, encryptionKey: .init(bytes: newKey))
    /// ```
    ///
    /// Takes longer than `backup(to:progress:)`, which copies pages with the database's own key. It requires
    /// SQLCipher instead of SQLite.
    ///
    /// - Parameters:
    ///   - path: The file to create. After a crash it may exist without content.
    ///   - encryptionKey: The key of the copy. Nil for an unencrypted file.
    /// - Throws: `YapDatabaseError`: `encryptionUnavailable`; `cannotOpen` if a file exists at `path`, which
    ///   isn't changed; `diskFull`, ...; no file is left then. `CancellationError` before the copy begins.
    public func backup(to path: String, encryptionKey: YapDatabaseOptions.EncryptionKey?) async throws {
        try Task.checkCancellation()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            shell.read(SerialJobs()) {
                continuation.resume(with: Result { try self.export(to: path, encryptionKey) })
            }
        }
    }

    fileprivate func export(to path: String, _ key: YapDatabaseOptions.EncryptionKey?) throws {
        try makeReader().export(to: path, encryptionKey: key?.key)
    }
}

extension YapDatabase.Blocking {
    /// Copies the newest snapshot to a new file with another key. Parameters and errors are those of the asynchronous
    /// form.
    @available(*, noasync, message: "call `try await database.backup(to:encryptionKey:)`")
    public func backup(to path: String, encryptionKey: YapDatabaseOptions.EncryptionKey?) throws {
        try database.export(to: path, encryptionKey)
    }
}
