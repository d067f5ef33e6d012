extension YapDatabase {
    /// Registers an extension: creates or brings up to date its tables, and fills them in batches, between which others
    /// write. Returns when it is complete; no transaction reads it before.
    ///
    /// After a cancellation, an error or a crash the next registration goes on with the rows that are left, if the
    /// extension allows it. An extension that can catch up (`YapDatabaseExtension.catchesUp`) is handed the rows that
    /// were written without it meanwhile, up to 100,000. Every other extension is handed all rows again if any row was
    /// written without it, in any collection: register extensions first. One that depends on others waits until they
    /// have caught up.
    ///
    /// - Parameters:
    ///   - instance: The extension. Don't register one instance twice.
    ///   - name: What it is reached by in transactions, and known by in the file.
    ///   - progress: Called between two batches with the part of the rows that it has, from 0 to 1.
    /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, `decoding` for a row that
    ///   can't be read; `busy` if another process holds the write lock again and again; `CancellationError`; or what
    ///   the extension threw. Then it isn't registered.
    public func register(
        _ instance: some YapDatabaseExtension, withName name: String,
        progress: @Sendable (Double) -> Void = { _ in }
    ) async throws {
        if let generation = try await beginRegistration(instance, name) {
            try await fill(generation, progress)
        }
        instance.didRegister(registeredName: name, database: self)
    }

    private func beginRegistration(_ instance: some YapDatabaseExtension, _ name: String) async throws
        -> UInt64?
    {
        while true {
            try Task.checkCancellation()
            do {
                return try await exclusively { try $0.register(instance, withName: name) }
            } catch is DependenciesCatchUp {}
        }
    }

    private func fill(_ generation: UInt64, _ progress: @Sendable (Double) -> Void) async throws {
        let steps = FillingSteps(generation)
        do {
            while let part = try await exclusively({ try steps.next($0) }) {
                progress(part)
                try Task.checkCancellation()
            }
        } catch {
            let isComplete = try? await exclusively { $0.stopFilling(generation) }
            if isComplete != true { throw error }
        }
    }

    /// Registers an extension under its own name. Parameters and errors as `register(_:withName:progress:)`.
    public func register(
        _ handle: some YapDatabaseNamedExtension, progress: @Sendable (Double) -> Void = { _ in }
    ) async throws {
        try await register(handle, withName: handle.name, progress: progress)
    }

    /// Unregisters an extension and those that depend on it, and drops their tables: also one that is in the
    /// file from an earlier run and not registered in this one.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`.
    public func unregister(_ name: String) async throws {
        try Task.checkCancellation()
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

    /// Closes the file: waits for the write that runs, and refuses later reads and writes with `closed`. So it does
    /// with writes that are queued: call `flushTransactions()` before to wait for them. A second call does nothing.
    ///
    /// It waits on a thread of its own, and cancelling the task has no effect. Connections close their own handles when
    /// they are released, or at their next use.
    public func close() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let close: @Sendable () -> Void = { continuation.resume(with: Result { try self.closeNow() }) }
            // Without a thread to be had, blocking this one is better than no answer.
            if !WorkerThread.start(close) { close() }
        }
    }

    /// Waits until all asynchronous writes that were queued before, by any connection, have ended.
    ///
    /// - Throws: `YapDatabaseError` of code `closed`.
    public func flushTransactions() async throws {
        try await exclusively { _ in }
    }

    /// Releases memory: decoded rows and pages of the file that the writer keeps, and the handles of connections that
    /// were released. For the memory of a connection call `YapDatabaseConnection.flushMemory()`.
    ///
    /// - Throws: `YapDatabaseError` of code `closed`.
    public func flushMemory() async throws {
        try await exclusively { $0.store.flushMemory() }
        idleReaders.removeAll()
    }

    /// What the writer keeps in memory.
    ///
    /// - Throws: `YapDatabaseError` of code `closed`.
    public func writerMemoryUse() async throws -> YapDatabaseMemoryUse {
        try await exclusively { $0.store.memoryUse }
    }

    /// Registers a reader of changes. From now on the file keeps which rows each commit changes, of all processes,
    /// until the reader discards them. Does nothing if the reader is registered already, in this or an earlier run.
    ///
    /// ```swift
    /// try await database.registerChangeReader("export")
    /// let changes = try await connection.read { transaction in
    ///     try transaction.changes(since: token).map(Array.init)
    /// }
    /// ```
    ///
    /// Each write then also writes the names of its rows. A row is kept once, however often it changes. For more than
    /// 100,000 rows nothing is kept: the reader begins anew, and `changes(since:)` returns nil for earlier tokens.
    ///
    /// - Parameter name: Names the reader in the file.
    /// - Throws: `YapDatabaseError`: `closed`, `busy`, `diskFull`, ...
    public func registerChangeReader(_ name: String) async throws {
        try await exclusively { try $0.registerChangeReader(name) }
    }

    /// Unregisters a reader of changes: nothing is kept for it any more.
    ///
    /// - Throws: `YapDatabaseError` of code `changeReaderNotRegistered`, or as `registerChangeReader(_:)`.
    public func unregisterChangeReader(_ name: String) async throws {
        try await exclusively { try $0.unregisterChangeReader(name) }
    }

    /// The commits from now on. Each reading of this property is a subscription of its own, which ends with
    /// its iterator.
    ///
    /// Commits of other processes are among them as they are made: the kernel reports them by a small file beside the
    /// database, which is created here. Where it can't, they are noticed when a transaction of this process begins.
    public var commits: YapDatabaseCommits {
        defer { observeOtherProcesses() }
        return YapDatabaseCommits(publisher)
    }

    func exclusively<Value: Sendable>(
        _ body: @escaping @Sendable (WriterCore) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            shell.write(ExclusiveRequest(body) { continuation.resume(with: $0) }, writer)
        }
    }
}
