import FoundationEssentials
import SQLite
import System

/// A database: one file with objects by collection and key, any number of connections, one writer.
///
/// Several processes, and several instances in one process, may open one file.
public final class YapDatabase: Sendable {
    /// The path of the file.
    public let path: String
    /// The options it was opened with.
    public let options: YapDatabaseOptions

    /// Properties that were probably renamed without an `upgrade`, found in the first and the last objects of each
    /// collection when the file was opened: up to one for each property. Empty without
    /// `YapDatabaseOptions.checksStoredObjects`. A debug build also writes them to the standard error.
    public let modelWarnings: [YapDatabaseModelWarning]

    /// The damaged file that was renamed or deleted when the database was opened, with
    /// `YapDatabaseOptions.whenCorrupt`; else nil.
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
    /// The folder of a database in memory.
    private let memoryFolder: MemoryFolder?

    /// Whether texts can be found in the stored bytes of a collection: they are CBOR, not in a form of the app's own.
    package func isSearchable(_ collection: String) -> Bool {
        guard let registration = registrations[collection] else { return false }
        return registration.object.isCBOR && registration.metadata?.isCBOR ?? true
    }

    /// Opens the file at `url`, and creates it when there is none.
    ///
    /// - Parameters:
    ///   - url: A file URL. Its folder must exist.
    ///   - options: How it is opened.
    ///   - configure: Registers the type of each collection.
    /// - Throws: `YapDatabaseError`: `notADatabase`, `notAYapDatabase`, `unsupportedFormat`, `corrupt` (the
    ///   file is left as it is in all four cases), `cannotOpen`, `busy`, `diskFull`; `missingRegistration` or
    ///   `typeMismatch` for a mistake in `configure`; `decoding` when stored objects are none of the registered
    ///   type, with what to change in it.
    public convenience init(
        url: URL, options: YapDatabaseOptions = YapDatabaseOptions(),
        configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        guard url.isFileURL else { throw YapDatabaseError(.cannotOpen, "not a file URL: \(url)") }
        try self.init(path: url.path, options: options, configure: configure)
    }

    /// Opens the file at `path`, as `init(url:options:configure:)` does.
    public convenience init(
        path: String, options: YapDatabaseOptions = YapDatabaseOptions(),
        configure: (inout YapDatabaseConfiguration) -> Void
    ) throws {
        try self.init(path, options, nil, configure)
    }

    /// Makes an empty database in memory, for tests, previews and what needs no file. Everything works as with a file.
    ///
    /// ```swift
    /// let database = try YapDatabase(inMemory: YapDatabaseOptions()) { $0.register(Todo.self, inCollection: "todos") }
    /// ```
    ///
    /// Its files lie in a folder of its own in the system's memory file system (`/dev/shm`), which may be small in a
    /// container; a system without one has them in its folder for temporary files. They are deleted when the database
    /// is closed or released. Those of a process that was killed are deleted by the next process that makes such a
    /// database.
    ///
    /// - Parameters:
    ///   - options: How it is opened. Commits never wait for a disk, and other processes aren't observed.
    ///   - configure: Registers the type of each collection.
    /// - Throws: `YapDatabaseError`: `cannotOpen`, `diskFull`, or for a mistake in `configure`.
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
        // A VFS of its own has no files that other processes see.
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

    /// Checks that the objects of a collection are registered as `type`.
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

    /// Checks that the metadata of a collection is registered as `type`.
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
        // No transaction runs: each would hold this object. The writing thread may still hold the writer for
        // a moment.
        try? writer.close()
    }

    /// A new connection. It opens its own SQLite handle at its first read.
    ///
    /// - Parameters:
    ///   - name: Names it in diagnostics. Names needn't be unique.
    ///   - permits: The transactions that it may begin. Any other throws `transactionNotPermitted` before it is queued.
    public func newConnection(
        name: String? = nil, permits: YapDatabasePermittedTransactions = .any
    ) -> YapDatabaseConnection {
        YapDatabaseConnection(self, name: name, permits: permits)
    }

    /// Number of asynchronous writes, of all connections, that wait or run. Registrations of extensions count too.
    public var pendingWritesCount: Int { shell.pendingWrites.count }

    /// The number of the newest commit that this instance has made or seen.
    public var snapshot: UInt64 { log.newest.number }

    /// The forms that run on the caller's thread and wait.
    public var blocking: Blocking { Blocking(database: self) }

    /// The names of the registered extensions, in the order of registration.
    public var registeredExtensionNames: [String] { log.registry.map(\.name) }

    /// Calls `observer` after each commit, in the order of the commits and one at a time.
    ///
    /// It is called on a queue of its own, so it may begin transactions, and may block: neither writes nor other
    /// observers wait for it. Up to 1,024 commits wait for a slow observer; then the oldest are dropped, and
    /// `missedCommits` of the next one has their number. The observation ends with `removeCommitObserver` or with the
    /// database; commits that are pending when the database closes are still delivered.
    ///
    /// - Parameter observer: Called with what a commit changed.
    /// - Returns: The identifier that `removeCommitObserver` takes.
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

    /// Lets observers be notified of the commits of other processes as they are made. Without it they are noticed when
    /// a transaction begins here.
    func observeOtherProcesses() {
        guard options.observesOtherProcesses else { return }
        signal.watch { [weak self] mark in
            // With a long-lived read, also a commit that another read has found first: the log is looked at.
            guard let self, mark.number > snapshot || !longLivedReads.isEmpty else { return }
            // The read finds a commit that no commit of this process explains, and notifies the observers.
            let logFileBytes = try? newConnection().blocking.read { $0.sqlite.logFileBytes }
            // The process that writes can't end the snapshots of this one.
            // When it begins the log anew, it leaves a file of up to `logBytesMax`.
            let bytesMax = max(options.longLivedReadLogBytesMax, options.logBytesMax)
            guard (logFileBytes ?? 0) > bytesMax else { return }
            longLivedReads.expire(before: snapshot)
        }
    }

    /// The same, on the thread that committed or on one that is busy with an earlier commit, before the write returns.
    /// For observers that never block.
    ///
    /// - Parameters:
    ///   - whenEnded: Called when no commit will come any more: the database was closed or released.
    ///   - observer: Called with what a commit changed, with no lock held.
    @discardableResult
    package func addInlineCommitObserver(
        whenEnded: @escaping @Sendable () -> Void = {},
        _ observer: @escaping @Sendable (YapDatabaseCommit) -> Void
    ) -> CommitObserverID {
        CommitObserverID(value: publisher.add(observer, whenEnded: whenEnded).id)
    }

    /// Ends an observation. A call that is under way on another thread may still end after this.
    public func removeCommitObserver(_ id: CommitObserverID) {
        publisher.remove(id.value)
    }

    /// Names an observer of commits.
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
