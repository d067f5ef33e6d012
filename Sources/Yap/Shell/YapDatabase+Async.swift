extension YapDatabase {
    /// Registers an extension: creates or brings up to date its tables in one transaction.
    ///
    /// - Parameters:
    ///   - instance: The extension. Don't register one instance twice.
    ///   - name: What it is reached by in transactions, and known by in the file.
    /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, or what the
    ///   extension threw. Then nothing has changed.
    public func register(_ instance: some YapDatabaseExtension, withName name: String) async throws {
        try await exclusively { try $0.register(instance, withName: name) }
        instance.didRegister(registeredName: name, database: self)
    }

    /// Unregisters an extension and those that depend on it, and drops their tables: also one that is in the
    /// file from an earlier run and not registered in this one.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`.
    public func unregister(_ name: String) async throws {
        try await exclusively { try $0.unregister(name) }
    }

    /// Copies the newest snapshot to a file, while others go on reading and writing.
    ///
    /// - Parameters:
    ///   - path: The file to write. A database that is there is replaced, as a whole or not at all.
    ///   - progress: Told the part that is done, from 0 to 1; throws to give up.
    /// - Throws: `YapDatabaseError`, or what `progress` threw.
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

    /// The commits from now on. Each reading of this property is a subscription of its own, which ends with
    /// its iterator.
    ///
    /// Commits of other processes are noticed when a transaction of this one begins.
    public var commits: YapDatabaseCommits {
        YapDatabaseCommits(publisher)
    }

    private func exclusively(_ body: @escaping @Sendable (WriterCore) throws -> Void) async throws {
        try Task.checkCancellation()
        try await withCheckedThrowingContinuation { continuation in
            shell.write(ExclusiveRequest(continuation, body), writer)
        }
    }
}
