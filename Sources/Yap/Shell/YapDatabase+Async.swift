import System

extension YapDatabase {
    /// Registers an extension: creates or updates its tables, and fills them in batches, between which other writes
    /// run. Returns when it is complete; no transaction can read it before.
    ///
    /// ```swift
    /// try await database.register(todoSearch, withName: "search") { part in print("\(Int(part * 100)) %") }
    /// ```
    ///
    /// After a cancellation, an error or a crash, the next registration continues with the remaining rows, if the
    /// extension supports it. An extension that can catch up (`YapDatabaseExtension.catchesUp`) receives only the
    /// rows that were written without it, up to 100,000. Any other extension receives all rows again if a row of any
    /// collection was written without it, so register extensions before you write. An extension that depends on
    /// others waits until they have caught up.
    ///
    /// - Parameters:
    ///   - instance: The extension. An instance can be registered once.
    ///   - name: Its name in transactions and in the file.
    ///   - progress: Called between two batches with the completed part, from 0 to 1.
    /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, `decoding` for a row that
    ///   can't be read; `busy` if another process repeatedly holds the write lock; `CancellationError`; or the error
    ///   of the extension. The extension isn't registered then.
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

    /// Registers an extension under its own name. Parameters and errors: see `register(_:withName:progress:)`.
    ///
    /// ```swift
    /// try await database.register(byDate)
    /// ```
    public func register(
        _ handle: some YapDatabaseNamedExtension, progress: @Sendable (Double) -> Void = { _ in }
    ) async throws {
        try await register(handle, withName: handle.name, progress: progress)
    }

    /// Unregisters an extension and those that depend on it, and drops their tables. An extension that an earlier run
    /// registered, and that isn't registered in this one, is removed from the file too.
    ///
    /// - Parameter name: The name of the extension.
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered`.
    public func unregister(_ name: String) async throws {
        try Task.checkCancellation()
        try await exclusively { try $0.unregister(name) }
    }

    /// Closes the file: waits for the running write, and rejects later reads and writes, and queued writes, with
    /// `closed`. Call `flushTransactions()` before to wait for queued writes. A second call does nothing.
    ///
    /// It waits on a thread of its own; cancelling the task has no effect. Connections close their own handles when
    /// they are released, or at their next use.
    public func close() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let close: @Sendable () -> Void = { continuation.resume(with: Result { try self.closeNow() }) }
            // If no thread can be started, blocking this one is better than never returning.
            do { try SystemThread.detach(name: "yap close", close) } catch { close() }
        }
    }

    /// Waits until all asynchronous writes that any connection queued before have ended.
    ///
    /// - Throws: `YapDatabaseError` with `closed`.
    public func flushTransactions() async throws {
        try await exclusively { _ in }
    }

    /// Releases memory: the writer's decoded rows and pages, and the handles of released connections. For the memory
    /// of a connection, call `YapDatabaseConnection.flushMemory()`.
    ///
    /// - Throws: `YapDatabaseError` with `closed`.
    public func flushMemory() async throws {
        try await exclusively { $0.store.flushMemory() }
        idleReaders.removeAll()
    }

    /// Returns the memory that the writer uses.
    ///
    /// - Throws: `YapDatabaseError` with `closed`.
    public func writerMemoryUse() async throws -> YapDatabaseMemoryUse {
        try await exclusively { $0.store.memoryUse }
    }

    /// Registers a reader of changes. From now on the file records the rows that each commit of any process changes,
    /// until the reader discards them. Does nothing if the reader is registered already, in this or an earlier run.
    ///
    /// ```swift
    /// try await database.registerChangeReader("export")
    /// let changes = try await connection.read { transaction in
    ///     try transaction.changes(since: token).map(Array.init)
    /// }
    /// ```
    ///
    /// Each write then also writes the names of its rows. A row is recorded once, however often it changes. Beyond
    /// 100,000 rows nothing is recorded: the reader starts over, and `changes(since:)` returns nil for earlier
    /// tokens.
    ///
    /// - Parameter name: The reader's name in the file.
    /// - Throws: `YapDatabaseError`: `closed`, `busy`, `diskFull`, ...
    public func registerChangeReader(_ name: String) async throws {
        try await exclusively { try $0.registerChangeReader(name) }
    }

    /// Unregisters a reader of changes. Nothing is recorded for it any more.
    ///
    /// - Parameter name: The reader's name in the file.
    /// - Throws: `YapDatabaseError` with `changeReaderNotRegistered`, or the errors of `registerChangeReader(_:)`.
    public func unregisterChangeReader(_ name: String) async throws {
        try await exclusively { try $0.unregisterChangeReader(name) }
    }

    /// Commits from now on. Each access to this property starts a subscription, which ends with its iterator.
    ///
    /// ```swift
    /// for await commit in database.commits where commit.hasChange(inCollection: "todos") { reload() }
    /// ```
    ///
    /// Commits of other processes are included as they are made: the kernel reports them through a small file beside
    /// the database, which is created here. If it can't, they are noticed when a transaction of this process begins.
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
