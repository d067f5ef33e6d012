import SQLite
import System

/// One SQLite handle with its state in memory: decoded rows and the extensions' connections, all of one snapshot.
///
/// The writer and each reader have one. Not thread-safe: the owner holds a lock.
final class StoreConnection {
    /// A registered collection and its cache.
    final class Collection {
        let registration: CollectionRegistration
        /// Without access checks, which take a tenth of a cached read: nothing in it calls other code.
        @exclusivity(unchecked) var cache: RowCache

        init(_ registration: CollectionRegistration, rowsMax: Int) {
            self.registration = registration
            cache = RowCache(rowsMax: rowsMax)
        }
    }

    let sqlite: Connection
    let config: ConfigTable
    /// Log of the changes that unregistered extensions miss. Used by the writer.
    private(set) lazy var missedChangeLog = MissedChangeLog(self)
    let changedKeysPerCommitMax: Int
    /// Completions of transactions. Used by the writer.
    private(set) lazy var completions = CompletionQueue()
    /// Snapshot of the caches.
    private(set) var mark: SnapshotMark
    /// The complete extensions, and in the writer also those that are being filled.
    private(set) var extensions: [ExtensionEntry] = [] {
        didSet { recentlyHeard = nil }
    }
    /// True if a transaction tried to read an extension that the writer can update.
    var wantsHealing = false
    /// The error for which SQLite rolled back the open transaction automatically, or nil.
    private(set) var lostTransaction: YapDatabaseError?
    private let collections: [String: Collection]
    private var recent: Collection?
    private var recentlyHeard: (collection: String, isHeard: Bool)?

    init(
        _ sqlite: Connection, mark: SnapshotMark, registrations: [String: CollectionRegistration],
        options: YapDatabaseOptions
    ) {
        self.sqlite = sqlite
        self.mark = mark
        config = ConfigTable(sqlite)
        changedKeysPerCommitMax = options.changedKeysPerCommitMax
        collections = registrations.mapValues { Collection($0, rowsMax: options.cachedRowsPerCollectionMax) }
    }

    /// Returns the registered collection, or nil.
    func collection(_ name: String) -> Collection? {
        if let recent, recent.registration.collection.hasSameBytes(as: name) { return recent }
        guard let found = collections[name], found.registration.collection.hasSameBytes(as: name) else {
            return nil
        }
        recent = found
        return found
    }

    /// Returns the registered collection. Throws if there is none.
    func registered(_ name: String) throws -> Collection {
        if let found = collection(name) { return found }
        throw YapDatabaseError.missingRegistration(ofCollection: name)
    }

    // MARK: Statements

    /// Runs `body` with the prepared statement. Converts SQLite's errors to `YapDatabaseError`.
    func statement<Result>(_ sql: String, _ body: (borrowing Statement) throws -> Result) throws -> Result {
        do {
            return try sqlite.withStatement(sql, body)
        } catch let error as SQLiteError {
            throw noted(error)
        }
    }

    /// Converts the error, and records it if it ended the transaction. Until the owner has handled it, no
    /// statement may run on this handle, because it would be committed immediately.
    func noted(_ error: SQLiteError) -> YapDatabaseError {
        let wrapped = YapDatabaseError(error)
        if !sqlite.isInTransaction, lostTransaction == nil { lostTransaction = wrapped }
        return wrapped
    }

    func transactionBegan() {
        lostTransaction = nil
    }

    // MARK: Snapshots

    /// Updates the caches to `newMark`, which was read in the open transaction: from the log, or by dropping them.
    func catchUp(to newMark: SnapshotMark, log: CommitLog) {
        if newMark != mark {
            if let records = log.records(from: mark, to: newMark) {
                for record in records { apply(record) }
            } else {
                log.noteUnexplained(newMark)
                dropCaches()
                for entry in extensions { entry.isChecked = false }
                mark = newMark
            }
        }
        useRegistry(log.registry(at: mark), at: mark.number)
    }

    /// Moves to a snapshot that this connection wrote itself.
    func advance(to newMark: SnapshotMark) {
        mark = newMark
    }

    func dropRowCaches() {
        for collection in collections.values { collection.cache.removeAll() }
    }

    func dropCaches() {
        dropRowCaches()
        dropExtensionCaches()
    }

    /// Empties all caches and frees their memory.
    func flushMemory() {
        dropCaches()
        sqlite.releaseMemory()
    }

    var memoryUse: YapDatabaseMemoryUse {
        let bytes = sqlite.memoryUse
        return YapDatabaseMemoryUse(
            cachedRowsCount: collections.values.reduce(0) { $0 + $1.cache.rowsCount },
            pageCacheBytes: bytes.pageCacheBytes, statementBytes: bytes.statementBytes,
            schemaBytes: bytes.schemaBytes)
    }

    private func dropExtensionCaches() {
        for entry in extensions { entry.connection.dropCaches() }
    }

    /// Removes from the caches the changes of a transaction, or of a part of one, that SQLite has undone. Other rows
    /// stay cached.
    func undo(_ changes: CommitChanges) {
        if changes.isAllCleared { dropRowCaches() }
        for (name, changes) in changes.collections {
            guard let collection = collection(name.string) else { continue }
            if changes.isCleared || changes.isOverflown { collection.cache.removeAll() }
            if collection.cache.isEmpty { continue }
            for key in changes.rows.keys { collection.cache.remove(key.string) }
        }
        dropExtensionCaches()
    }

    /// Applies a commit of another connection.
    private func apply(_ record: CommitRecord) {
        if record.changes.isAllCleared { dropRowCaches() }
        for (name, changes) in record.changes.collections {
            guard let collection = collection(name.string) else { continue }
            if changes.isCleared || changes.isOverflown { collection.cache.removeAll() }
            if collection.cache.isEmpty { continue }
            for (key, change) in changes.rows { collection.cache.apply(change, key: key.string) }
        }
        for change in record.extensionChanges { apply(change) }
        // The commit may be the one that updated it.
        for entry in extensions where entry.isBehind { entry.isChecked = false }
        mark = record.mark
    }

    /// Updates the caches of the extension that made the change.
    func apply(_ change: ExtensionChanges) {
        extensions.first { $0.registered.generation == change.generation }?.connection.apply(change.changes)
    }

    // MARK: Extensions

    /// Returns true if an extension observes the collection's rows.
    func isHeard(_ collection: String) -> Bool {
        if extensions.isEmpty { return false }
        if let recentlyHeard, recentlyHeard.collection.hasSameBytes(as: collection) {
            return recentlyHeard.isHeard
        }
        let isHeard = extensions.contains { $0.hears(of: collection) }
        recentlyHeard = (collection, isHeard)
        return isHeard
    }

    /// Keeps the connections of extensions that are still registered or being filled, and creates those of new ones.
    func useRegistry(_ registry: [RegisteredExtension], at snapshot: UInt64) {
        if extensions.isEmpty, registry.isEmpty { return }
        let visible = registry.filter { $0.sinceSnapshot <= snapshot }
        let complete = extensions.prefix { !$0.isFilling }
        if visible.elementsEqual(complete, by: { $0.generation == $1.registered.generation }) { return }
        let filling = filling.filter { entry in
            !visible.contains { $0.generation == entry.registered.generation }
        }
        extensions =
            visible.map { registered in
                let known = extensions.first { $0.registered.generation == registered.generation }
                known?.complete(as: registered)
                return known ?? ExtensionEntry(registered, sqlite)
            } + filling
    }

    // MARK: Filling, in the writer

    /// Extensions with tables that don't have all rows yet.
    var filling: [ExtensionEntry] { extensions.filter(\.isFilling) }

    /// Adds an extension that is being registered.
    func add(_ entry: ExtensionEntry) { extensions.append(entry) }

    /// Removes an extension that is being filled.
    func removeFilling(_ isUnwanted: (ExtensionEntry) -> Bool) {
        extensions.removeAll { $0.isFilling && isUnwanted($0) }
    }

    /// Returns the progress of the extensions, for `restoreFilling`.
    func savedFilling() -> [(entry: ExtensionEntry, filledThrough: Int64?)] {
        filling.map { ($0, $0.filledThrough) }
    }

    /// Restores the progress from before a transaction that failed.
    func restoreFilling(_ saved: [(entry: ExtensionEntry, filledThrough: Int64?)]) {
        for (entry, filledThrough) in saved { entry.filledThrough = filledThrough }
        extensions =
            extensions.filter { entry in
                !entry.isFilling && !saved.contains { $0.entry === entry }
            } + saved.map(\.entry)
    }
}
