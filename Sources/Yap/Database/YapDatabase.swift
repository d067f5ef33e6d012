import FoundationEssentials
import SQLite
import System

/// An object database in one file: objects by collection and key, any number of connections, one writer.
///
/// Several processes, and several instances in one process, may open the same file.
///
/// ```swift
/// let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
/// let connection = database.newConnection()
/// try await connection.readWrite { transaction in
///     try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
/// }
/// ```
public final class YapDatabase: Sendable {
    /// Path of the file.
    public let path: String
    /// Options that the database was opened with.
    public let options: YapDatabaseOptions

    /// Properties that were probably renamed without an `upgrade`, up to one for each property. Found in the first
    /// and the last objects of each collection when the file was opened. Empty without
    /// `YapDatabaseOptions.checksStoredObjects`. Debug builds also print them to the standard error.
    public let modelWarnings: [YapDatabaseModelWarning]

    /// The damaged file that was renamed or deleted when the database was opened, according to
    /// `YapDatabaseOptions.whenCorrupt`. Nil if the file wasn't damaged.
    public let corruption: YapDatabaseCorruption?

    let registrations: [String: CollectionRegistration]
    let log: CommitLog
    let publisher = CommitPublisher()
    let writer: Writer
    let shell: Shell
    let idleReaders = IdleReaders()
    let longLivedReads: LongLivedReads
    private let signal: ProcessSignal
    let healing = HealingState()
    /// Folder of a database in memory.
    private let memoryFolder: MemoryFolder?

    /// Returns true if texts can be searched in the stored bytes of a collection: they are CBOR, and not the app's
    /// own format.
    package func isSearchable(_ collection: String) -> Bool {
        guard let registration = registrations[collection] else { return false }
        return registration.object.isCBOR && registration.metadata?.isCBOR ?? true
    }

    /// Opens the file at `url`, and creates it if it doesn't exist.
    ///
    /// ```swift
    /// let database = try YapDatabase(url: url) {
    ///     $0.register(Todo.self, inCollection: "todos")
    ///     $0.register(List.self, inCollection: "lists")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: A file URL. The folder must exist.
    ///   - options: How to open the file.
    ///   - configure: Registers the type of each collection.
    /// - Throws: `YapDatabaseError`: `notADatabase`, `notAYapDatabase`, `unsupportedFormat`, `corrupt` (the file
    ///   isn't changed in these four cases), `cannotOpen`, `busy`, `diskFull`; `missingRegistration` or
    ///   `typeMismatch` for a mistake in `configure`; `decoding` if stored objects don't match the registered type.
    ///   Its message says what to change in the type.
    public convenience init(
        url: URL, options: YapDatabaseOptions = YapDatabaseOptions(),
        configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        guard url.isFileURL else { throw YapDatabaseError(.cannotOpen, "not a file URL: \(url)") }
        try self.init(path: url.path, options: options, configure: configure)
    }

    /// Opens the file at `path`. Parameters and errors are those of `init(url:options:configure:)`.
    public convenience init(
        path: String, options: YapDatabaseOptions = YapDatabaseOptions(),
        configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        try self.init(path, options, nil, configure)
    }

    /// Creates an empty database in memory, for tests and previews. It behaves like a database in a file.
    ///
    /// ```swift
    /// let database = try YapDatabase(inMemory: YapDatabaseOptions()) {
    ///     $0.register(Todo.self, inCollection: "todos")
    /// }
    /// ```
    ///
    /// Its files are in a folder of the memory file system (`/dev/shm`), which may be small in a container, or of the
    /// folder for temporary files if there is none. They are deleted when the database is closed or released. Files
    /// of a killed process are deleted by the next process that creates a database in memory.
    ///
    /// - Parameters:
    ///   - options: How to open it. Commits never wait for a disk, and other processes aren't observed.
    ///   - configure: Registers the type of each collection.
    /// - Throws: `YapDatabaseError`: `cannotOpen`, `diskFull`, or the error for a mistake in `configure`.
    public convenience init(
        inMemory options: YapDatabaseOptions, configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        var options = options
        options.durability = .normal
        options.observesOtherProcesses = false
        let folder = try MemoryFolder()
        try self.init(folder.file, options, folder, configure)
    }

    private init(
        _ path: String, _ options: YapDatabaseOptions, _ memoryFolder: MemoryFolder?,
        _ configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        self.memoryFolder = memoryFolder
        var configuration = YapDatabaseConfiguration()
        configure(&configuration)
        if let mistake = configuration.mistakes.first { throw mistake }
        self.path = path
        self.options = options
        registrations = configuration.registrations
        shell = Shell()
        longLivedReads = LongLivedReads(readersMax: options.longLivedReadsMax)
        // A custom VFS has no files that other processes see.
        let signal = ProcessSignal(path: options.vfsName == nil ? path + "-notify" : nil)
        self.signal = signal

        let writerID = options.random.next()
        do {
            let first = SnapshotMark(number: 0, writer: writerID)
            let (file, corruption) = try CorruptFile(path: path, options: options).opening {
                let sqlite = try DatabaseSchema.open(
                    path: path, options: options.writerSQLiteOptions, firstMark: first)
                return (sqlite: sqlite, mark: try ConfigTable(sqlite).mark())
            }
            let (sqlite, mark) = file
            self.corruption = corruption
            log = CommitLog(newest: mark, publisher: publisher)
            let store = StoreConnection(sqlite, mark: mark, registrations: registrations, options: options)
            modelWarnings =
                options.checksStoredObjects ? try StoredObjectCheck(store).check(registrations.values) : []
            let core = WriterCore(
                store, log: log, writerID: writerID, options: options, longLivedReads: longLivedReads,
                didCommit: { signal.post($0) })
            writer = Writer(core, publisher: publisher)
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
        assert(modelWarnings.areWritten())
    }

    /// Checks that `type` is registered for the objects of a collection.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration` or `typeMismatch`.
    package func checkRegistration(of type: any Sendable.Type, inCollection collection: String) throws {
        guard let registration = registrations[collection] else {
            throw YapDatabaseError.missingRegistration(ofCollection: collection)
        }
        guard registration.object.typeID != ObjectIdentifier(type) else { return }
        throw YapDatabaseError(
            .typeMismatch, "the registered type is \(registration.object.typeName), not \(type)",
            collection: collection)
    }

    /// Checks that `type` is registered for the metadata of a collection.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration` or `typeMismatch`.
    func checkMetadataRegistration(of type: any Sendable.Type, inCollection collection: String) throws {
        guard let metadata = registrations[collection]?.metadata else {
            throw YapDatabaseError(
                .missingRegistration, "no metadata type is registered for the collection",
                collection: collection)
        }
        guard metadata.typeID != ObjectIdentifier(type) else { return }
        throw YapDatabaseError(
            .typeMismatch, "the registered type is \(metadata.typeName), not \(type)", collection: collection)
    }

    deinit {
        signal.end()
        shell.close()
        publisher.end()
        // No transaction is running: each would retain this object. The writing thread may still hold the writer for
        // a moment.
        try? writer.close()
    }

    /// Creates a connection. It opens its own SQLite handle at its first read.
    ///
    /// ```swift
    /// let connection = database.newConnection()
    /// let list = database.newConnection(name: "list", permits: .anyRead)
    /// ```
    ///
    /// - Parameters:
    ///   - name: A name for diagnostics. It needn't be unique.
    ///   - permits: The transactions that the connection may begin. Any other throws `transactionNotPermitted` before
    ///     it is queued.
    /// - Returns: The connection. It keeps the database open.
    public func newConnection(
        name: String? = nil, permits: YapDatabasePermittedTransactions = .any
    ) -> YapDatabaseConnection {
        YapDatabaseConnection(self, name: name, permits: permits)
    }

    /// Number of asynchronous writes of all connections that are pending or running. Registrations of extensions
    /// count too.
    public var pendingWritesCount: Int { shell.pendingWrites.count }

    /// Number of the newest commit that this instance has made or seen.
    public var snapshot: UInt64 { log.newest.number }

    /// Blocking forms of this database's calls.
    public var blocking: Blocking { Blocking(database: self) }

    /// Names of the registered extensions, in the order of registration.
    public var registeredExtensionNames: [String] { log.registry.map(\.name) }

    /// Calls `observer` after each commit, in the order of the commits and one at a time.
    ///
    /// ```swift
    /// let id = database.addCommitObserver { commit in
    ///     if commit.hasChange(inCollection: "todos") { reload() }
    /// }
    /// ```
    ///
    /// The observer runs on a queue of its own, so it may begin transactions and may block; neither writes nor other
    /// observers wait for it. Up to 1,024 commits are queued for a slow observer. Then the oldest are dropped, and
    /// `missedCommits` of the next commit has their number. The observation ends with `removeCommitObserver` or with
    /// the database. Commits that are pending when the database closes are still delivered.
    ///
    /// - Parameter observer: Called with what a commit changed.
    /// - Returns: The identifier to pass to `removeCommitObserver`.
    @discardableResult
    public func addCommitObserver(_ observer: @escaping @Sendable (YapDatabaseCommit) -> Void)
        -> CommitObserverID
    {
        let queue = HandlerQueue<YapDatabaseCommit>(
            label: "Yap.commitObserver", valuesMax: CommitPublisher.queuedCommitsMax,
            merge: { dropped, next in next.add(missed: dropped) }, handler: observer)
        let added = publisher.add({ queue.add($0) }, whenRemoved: { queue.end() })
        observeOtherProcesses()
        return CommitObserverID(value: added.id)
    }

    /// Starts notifying observers of commits of other processes as they are made. Otherwise those commits are noticed
    /// when a transaction begins in this process.
    func observeOtherProcesses() {
        guard options.observesOtherProcesses else { return }
        signal.watch { [weak self] mark in
            // With a long-lived read, every commit matters, also one that another read has found first, because the
            // size of the log has to be checked.
            guard let self, mark.number > snapshot || !longLivedReads.isEmpty else { return }
            // The read finds a commit that no commit of this process explains, and notifies the observers.
            let logFileBytes = try? newConnection().blocking.read { $0.sqlite.logFileBytes }
            // The process that writes can't end the snapshots of this one. When it restarts the log, it leaves a file
            // of up to `logBytesMax`.
            let bytesMax = max(options.longLivedReadLogBytesMax, options.logBytesMax)
            guard (logFileBytes ?? 0) > bytesMax else { return }
            longLivedReads.expire(before: snapshot)
        }
    }

    /// Calls `observer` after each commit on the thread that committed, or on a thread that is still delivering an
    /// earlier commit, before the write returns. For observers that never block.
    ///
    /// - Parameters:
    ///   - whenEnded: Called when no more commits will follow, because the database was closed or released.
    ///   - observer: Called with what a commit changed, with no lock held.
    @discardableResult
    package func addInlineCommitObserver(
        whenEnded: @escaping @Sendable () -> Void = {},
        _ observer: @escaping @Sendable (YapDatabaseCommit) -> Void
    ) -> CommitObserverID {
        CommitObserverID(value: publisher.add(observer, whenEnded: whenEnded).id)
    }

    /// Ends an observation. A call that is running on another thread may still finish after this returns.
    ///
    /// - Parameter id: The identifier that `addCommitObserver` returned.
    public func removeCommitObserver(_ id: CommitObserverID) {
        publisher.remove(id.value)
    }

    /// Identifies an observer of commits.
    public struct CommitObserverID: Hashable, Sendable {
        let value: UInt64
    }

    func closeNow() throws {
        try writer.close()
        shell.close()
        longLivedReads.close()
        idleReaders.close()
        signal.end()
        publisher.end()
        memoryFolder?.remove()
    }

    var isClosed: Bool { shell.isClosed }
}
