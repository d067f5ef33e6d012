import SQLite

/// The database's writer: a transaction of members, each of which succeeds or fails independently, then one
/// COMMIT for all.
///
/// The state in memory changes after the disk: other connections and observers receive a member only after
/// COMMIT. After any failure, all state is dropped that can be read again.
final class WriterCore {
    /// Number of members between two checks of the write-ahead log's size.
    static let commitsPerLogCheck = 64
    /// How long to wait for readers when the write-ahead log is too large.
    static let logWaitMilliseconds: Int32 = 50

    private struct Member {
        let record: CommitRecord?
        let uses: [YapDatabaseReadTransaction.ExtensionUse]
        /// Extensions may reference it as `unowned`, and are called once more after COMMIT.
        let transaction: YapDatabaseReadWriteTransaction
    }

    private struct RolledBack: Error {}

    let store: StoreConnection
    let log: CommitLog
    private let options: YapDatabaseOptions
    private let didCommit: (SnapshotMark) -> Void
    private let longLivedReads: LongLivedReads
    private var writerID: UInt64
    /// The stored snapshot at BEGIN.
    private var base: SnapshotMark
    private var members: [Member] = []
    private var nextGeneration: UInt64 = 1
    /// Why extensions are no longer filled, by their registrations.
    private var fillFailures: [UInt64: any Error] = [:]
    private var commitsSinceLogCheck = 0
    /// Objects attached to ended transactions. Released when no lock is held.
    private var leftovers: [Any] = []

    /// - Parameter didCommit: Called after each COMMIT that wrote something.
    init(
        _ store: StoreConnection, log: CommitLog, writerID: UInt64, options: YapDatabaseOptions,
        longLivedReads: LongLivedReads, didCommit: @escaping (SnapshotMark) -> Void
    ) {
        self.store = store
        self.longLivedReads = longLivedReads
        self.didCommit = didCommit
        self.log = log
        self.writerID = writerID
        self.options = options
        base = store.mark
    }

    // MARK: A transaction of members

    /// Runs one member in a transaction of its own.
    func alone<Result>(
        by connection: YapDatabaseConnection? = nil,
        _ body: (YapDatabaseReadWriteTransaction) throws -> Result
    ) throws -> Result {
        try begin()
        do {
            let result = try member(by: connection, isAlone: true, body)
            try commit()
            return result
        } catch {
            abandon()
            throw error
        }
    }

    /// Begins a transaction, and updates the memory to the state on disk. Before that, updates extensions
    /// that miss changes of another process, in a separate transaction.
    func begin() throws {
        try beginTransaction()
        guard store.extensions.contains(where: \.canCatchUp) else { return }
        catchUp()
        try beginTransaction()
    }

    private func beginTransaction() throws {
        do {
            try store.sqlite.begin(.immediate)
            base = try store.config.mark()
        } catch {
            try? store.sqlite.rollback()
            throw (error as? SQLiteError).map { YapDatabaseError($0) } ?? error
        }
        store.transactionBegan()
        if base != store.mark { store.missedChangeLog.reset() }
        store.catchUp(to: base, log: log)
        do {
            try checkExtensions()
        } catch {
            try? store.sqlite.rollback()
            throw (error as? SQLiteError).map { YapDatabaseError($0) } ?? error
        }
        members = []
    }

    /// Reads the notes that another process may have written about the extensions.
    private func checkExtensions() throws {
        for entry in store.extensions {
            try entry.check(store)
            guard entry.isFilling else { continue }
            let stored = StoredExtension(entry.registered.name, store)
            var isReplaced = try !stored.isOf(entry.registered.instance)
            if case .cannotBeRead(_, true) = try state(ofDependencies: entry.dependencies) {
                isReplaced = true
            }
            if !isReplaced {
                // An extension that another process has completed has all rows, and is completed here with the next
                // rows.
                entry.filledThrough = try stored.filledThrough() ?? .max
            } else {
                let message =
                    "\"\(entry.registered.name)\", or one that it needs, was replaced or unregistered "
                    + "while it was filled"
                stopFilling(
                    entry.registered.generation, because: YapDatabaseError(.extensionNotRegistered, message))
            }
        }
    }

    /// True if the transaction is still open. Check it after an error: a full disk ends it for all members.
    var isAlive: Bool { store.sqlite.isInTransaction }

    /// Why the transaction is no longer open.
    var lostTransaction: any Error {
        store.lostTransaction ?? YapDatabaseError(.sqlite, "SQLite rolled the transaction back")
    }

    /// Runs one closure in the open transaction. If it throws, its changes are undone.
    ///
    /// - Parameters:
    ///   - connection: The connection that writes. Nil for the library itself.
    ///   - cancellation: The cancellation of the writing task, or nil.
    func member<Result>(
        by connection: YapDatabaseConnection? = nil, isAlone: Bool = false,
        cancellation: TransactionCancellation? = nil,
        _ body: (YapDatabaseReadWriteTransaction) throws -> Result
    ) throws -> Result {
        var result: Result?
        try cancellation?.check()
        let transaction = YapDatabaseReadWriteTransaction(store, connection)
        transaction.cancellation = cancellation
        defer { if let attachments = transaction.attachments { leftovers.append(attachments) } }
        func run() throws -> Member {
            let changesBefore = store.sqlite.totalChangesCount
            result = try body(transaction)
            if transaction.isRolledBack { throw RolledBack() }
            // From here on the write completes even if the task is cancelled.
            transaction.cancellation = nil
            return try finish(transaction, changesBefore)
        }
        do {
            let member = try isAlone ? run() : store.sqlite.savepoint("member", run)
            end(transaction)
            adopt(member)
        } catch {
            let uses = transaction.usesSoFar
            end(transaction)
            for use in uses { use.transaction.didRollback() }
            forget(transaction.changes, isAlone: isAlone)
            if !(error is RolledBack) {
                throw (error as? SQLiteError).map { store.noted($0) } ?? error
            }
        }
        guard let result else { preconditionFailure("a member neither threw nor returned") }
        return result
    }

    private func end(_ transaction: YapDatabaseReadWriteTransaction) {
        if let userInfo = transaction.userInfo { leftovers.append(userInfo) }
        transaction.end()
    }

    /// Returns the objects attached to ended transactions, to be released with no lock held.
    func takeLeftovers() -> [Any] {
        defer { leftovers = [] }
        return leftovers
    }

    /// Commits all members that succeeded. If it throws, the changes of all members are undone.
    func commit() throws {
        let records = members.compactMap(\.record)
        let snapshot = store.mark.number
        do {
            if let last = records.last {
                try store.config.setMark(last.mark)
                log.addPending(records)
                do {
                    try store.sqlite.commit()
                } catch {
                    log.removePending(records)
                    throw error
                }
            } else {
                try store.sqlite.rollback()
            }
        } catch {
            abandon()
            throw (error as? SQLiteError).map { YapDatabaseError($0) } ?? error
        }
        log.confirm(records, infos: infos())
        if let last = records.last { didCommit(last.mark) }
        for member in members {
            for use in member.uses {
                use.transaction.didCommit(snapshot: member.record?.mark.number ?? snapshot)
            }
        }
        for member in members { member.transaction.attachments?.complete() }
        members = []
        commitsSinceLogCheck += 1
    }

    /// Returns the `commitInfo` of the members' commits, by their numbers.
    private func infos() -> [UInt64: any Sendable] {
        var infos: [UInt64: any Sendable] = [:]
        for member in members {
            guard let info = member.transaction.attachments?.commitInfo, let record = member.record else {
                continue
            }
            infos[record.mark.number] = info
        }
        return infos
    }

    /// Rolls back any open transaction, and drops its state in memory.
    func abandon() {
        try? store.sqlite.rollback()
        for member in members {
            for use in member.uses { use.transaction.didRollback() }
        }
        // A member that failed by itself was already undone.
        if !members.isEmpty { store.dropCaches() }
        members = []
        store.advance(to: base)
        store.useRegistry(log.registry, at: base.number)
        // A failed commit may appear after a crash. With a new writer ID, it can't be mistaken for a later
        // commit with the same number.
        writerID &+= 1
        store.missedChangeLog.reset()
    }

    private func finish(_ transaction: YapDatabaseReadWriteTransaction, _ changesBefore: Int) throws -> Member
    {
        try throwFailure(of: transaction)
        let uses = transaction.usesSoFar
        try flush(transaction, uses)
        try throwFailure(of: transaction)
        let extensionChanges = try uses.compactMap { use in
            try use.transaction.changesForConnections().map { changes in
                try noteChange(of: use, changes, in: transaction)
                return ExtensionChanges(
                    name: use.entry.registered.name, generation: use.entry.registered.generation,
                    changes: changes)
            }
        }
        let isUnchanged =
            transaction.changes.isEmpty && extensionChanges.isEmpty && transaction.registry == nil
            && store.sqlite.totalChangesCount - transaction.undoneCount == changesBefore
        if isUnchanged { return Member(record: nil, uses: uses, transaction: transaction) }
        let record = CommitRecord(
            previous: store.mark, mark: SnapshotMark(number: store.mark.number + 1, writer: writerID),
            changes: transaction.changes, extensionChanges: extensionChanges, registry: transaction.registry,
            connection: transaction.connection?.identity)
        return Member(record: record, uses: uses, transaction: transaction)
    }

    private func throwFailure(of transaction: YapDatabaseReadWriteTransaction) throws {
        if let failure = transaction.failure ?? store.lostTransaction ?? transaction.iterationError {
            throw failure
        }
    }

    private func flush(
        _ transaction: YapDatabaseReadWriteTransaction, _ uses: [YapDatabaseReadTransaction.ExtensionUse]
    ) throws {
        guard !uses.isEmpty else { return }
        try transaction.settleExtensions()
        let count = transaction.writeCount
        for use in uses { try use.transaction.flushPendingChangesToExtensionTables() }
        guard transaction.writeCount == count else {
            throw YapDatabaseError(
                .extensionsDoNotSettle, "rows were changed in flushPendingChangesToExtensionTables")
        }
    }

    /// Continues after a successful member: the next member sees its changes, which aren't committed yet.
    private func adopt(_ member: Member) {
        members.append(member)
        guard let record = member.record else { return }
        for change in record.extensionChanges { store.apply(change) }
        store.advance(to: record.mark)
    }

    /// Restores the state in memory from before the member. The tables are restored already.
    private func forget(_ changes: CommitChanges, isAlone: Bool) {
        store.undo(changes)
        store.missedChangeLog.reset()
        if isAlone { try? store.sqlite.rollback() }
    }

    // MARK: Extensions

    /// Begins to register an extension, in a transaction of its own.
    ///
    /// - Returns: The generation of the registration if `ExtensionFiller` has to fill the extension, or nil if it is
    ///   complete.
    /// - Throws: `DependenciesCatchUp` if it must be called again.
    func register(_ instance: any YapDatabaseExtension, withName name: String) throws -> UInt64? {
        let generation = nextGeneration
        nextGeneration += 1
        let saved = store.savedFilling()
        try (instance as? any VersionSetting)?.join(log)
        do {
            try alone { transaction in
                transaction.isHandingRows = true
                try ExtensionNames(store, log.registry).check(instance, name)
                try checkDependencies(of: instance, name)
                let stored = StoredExtension(name, store)
                let previous = try stored.registration(of: instance)
                store.missedChangeLog.reset()
                let registered = RegisteredExtension(
                    name: name, instance: instance, sinceSnapshot: store.mark.number + 1,
                    generation: generation)
                let entry = ExtensionEntry(registered, store.sqlite)
                store.add(entry)
                guard let use = try transaction.uses().last else { return }
                let content = try use.transaction.register(previous: previous)
                let catchesUp = try stored.save(instance, content)
                let filledThrough: Int64? =
                    switch content {
                    case .isEmpty: 0
                    case .isUnchanged: try stored.filledThrough()
                    case .isComplete: nil
                    }
                try stored.setFilledThrough(filledThrough)
                if filledThrough != nil || catchesUp {
                    entry.filledThrough = filledThrough ?? .max
                } else if case .isUnchanged = content {
                    let filled = registered.filled(since: registered.sinceSnapshot)
                    entry.complete(as: filled)
                    complete([filled], in: transaction)
                } else {
                    complete([registered], in: transaction)
                }
            }
        } catch {
            store.restoreFilling(saved)
            leave([instance])
            throw error
        }
        return store.filling.contains { $0.registered.generation == generation } ? generation : nil
    }

    /// Lets readers see extensions from the commit of `transaction` on.
    func complete(_ registered: [RegisteredExtension], in transaction: YapDatabaseReadWriteTransaction) {
        let registry = (transaction.registry ?? log.registry) + registered
        transaction.registry = registry
        store.useRegistry(registry, at: store.mark.number + 1)
    }

    /// Stops filling an extension. Its next registration may continue.
    ///
    /// - Parameter error: The error for the caller that waits for it.
    /// - Returns: True if it is complete: another registration's batch may have completed it.
    @discardableResult
    func stopFilling(_ generation: UInt64, because error: (any Error)? = nil) -> Bool {
        let stopped = store.filling.filter { $0.registered.generation == generation }
        store.removeFilling { $0.registered.generation == generation }
        leave(stopped.map(\.registered.instance))
        fillFailures[generation] = error
        store.missedChangeLog.reset()
        return log.registry.contains { $0.generation == generation }
    }

    /// Returns why an extension is no longer filled, once.
    func takeFillFailure(_ generation: UInt64) -> (any Error)? {
        fillFailures.removeValue(forKey: generation)
    }

    /// Unregisters an extension and its dependents, and drops their tables, even if it is registered only in the
    /// file, or being filled.
    func unregister(_ name: String) throws {
        let before = log.registry.map(\.instance)
        var unregistered: [String] = []
        try alone { transaction in
            let registry = log.registry
            var names = [name]
            for registered in registry + store.filling.map(\.registered)
            where !names.contains(registered.name)
                && registered.instance.dependencies.contains(where: { names.contains($0) })
            {
                names.append(registered.name)
            }
            // Including those that aren't registered here.
            names += try store.config.dependents(of: name).filter { !names.contains($0) }
            let isStored = try store.config.extensionNames().contains(name)
            guard isStored || registry.contains(where: { $0.name == name }) else {
                throw YapDatabaseError(.extensionNotRegistered, "no extension is registered as \"\(name)\"")
            }
            for name in names { try StoredExtension(name, store).drop() }
            store.missedChangeLog.reset()
            let rest = registry.filter { !names.contains($0.name) }
            transaction.registry = rest
            store.useRegistry(rest, at: store.mark.number + 1)
            unregistered = names
        }
        for entry in store.filling where unregistered.contains(entry.registered.name) {
            let message = "\"\(entry.registered.name)\" was unregistered while it was filled"
            stopFilling(
                entry.registered.generation, because: YapDatabaseError(.extensionNotRegistered, message))
        }
        leave(before)
    }

    /// Notifies extensions with a settable version that are no longer registered here.
    private func leave(_ instances: [any YapDatabaseExtension]) {
        for instance in instances {
            guard let setting = instance as? any VersionSetting else { continue }
            let registered = log.registry + store.filling.map(\.registered)
            if !registered.contains(where: { $0.instance as AnyObject === setting }) { setting.leave(log) }
        }
    }

    // MARK: Maintenance

    /// Bounds the size of the write-ahead log. It is a separate step after a commit, so that it can't fail
    /// the commit.
    ///
    /// A commit copies a log of 1000 pages to the file, but the next commit can restart the log only if no
    /// reader uses it. With many consecutive readers the log would grow forever. If it exceeds its limit, the
    /// writer waits for readers for a short time only, because a long reader must not block the writes.
    /// Long-lived reads at the newest commit leave the log. Reads at an older commit expire if the log
    /// exceeds their own limit.
    func maintain() {
        guard commitsSinceLogCheck >= Self.commitsPerLogCheck else { return }
        commitsSinceLogCheck = 0
        let logBytes = Int64(store.sqlite.logFrames) * Self.pageBytes
        guard logBytes > options.logBytesMax else { return }
        // The wait allows a long-lived read that follows commits to catch up.
        if emptyLog(readersMilliseconds: Self.logWaitMilliseconds) { return }
        guard logBytes > options.longLivedReadLogBytesMax, !longLivedReads.isEmpty else { return }
        longLivedReads.expire(before: store.mark.number)
        _ = emptyLog(readersMilliseconds: Self.logWaitMilliseconds)
    }

    private static let pageBytes: Int64 = 4096

    /// Copies the log to the file, and makes long-lived reads leave it.
    ///
    /// - Parameter readersMilliseconds: How long to wait for other readers.
    /// - Returns: True if the next commit restarts the log.
    @discardableResult
    private func emptyLog(readersMilliseconds: Int32) -> Bool {
        let busyMilliseconds = min(options.busyTimeoutMilliseconds, Self.logWaitMilliseconds)
        try? store.sqlite.setBusyTimeout(milliseconds: busyMilliseconds)
        defer { try? store.sqlite.setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds) }
        let result = try? store.sqlite.checkpoint(
            readersMilliseconds: min(options.busyTimeoutMilliseconds, readersMilliseconds),
            whenCopied: leaveLog)
        return result.map { $0.logFrames == $0.checkpointedFrames && !$0.hasReaders } ?? false
    }

    /// Makes long-lived reads at the newest commit leave the log, which has been copied to the file.
    func leaveLog() {
        guard !longLivedReads.isEmpty, let newest = try? store.config.mark() else { return }
        longLivedReads.leaveLog(at: newest)
    }

    /// Moves a long-lived read to the newest commit, and makes it leave the log before the next commit.
    /// Otherwise a read that is moved after each commit would prevent the log from restarting.
    ///
    /// - Returns: The commits in between. Empty if a transaction of the read is running.
    func move(_ reader: LongLivedReader) -> [YapDatabaseCommit] {
        guard let commits = reader.moveToNewestIfFree() else { return [] }
        emptyLog(readersMilliseconds: 0)
        return commits
    }
}
