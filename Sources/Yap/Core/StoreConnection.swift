import SQLite
import Seams

/// One SQLite handle with what it keeps in memory: decoded rows and the extensions' connections, all of one
/// snapshot.
///
/// The writer has one, and each reader. Not thread-safe: its owner holds a lock.
final class StoreConnection {
    /// A registered collection and its cache.
    final class Collection {
        let registration: CollectionRegistration
        /// Without access checks, which are a tenth of a cached read: nothing in it calls other code.
        @exclusivity(unchecked) var cache: RowCache

        init(_ registration: CollectionRegistration, rowsMax: Int) {
            self.registration = registration
            cache = RowCache(rowsMax: rowsMax)
        }
    }

    struct ExtensionEntry {
        let registered: RegisteredExtension
        let connection: any YapDatabaseExtensionConnection
    }

    let sqlite: Connection
    let config: ConfigTable
    let changedKeysPerCommitMax: Int
    /// What the caches reflect.
    private(set) var mark: SnapshotMark
    private(set) var extensions: [ExtensionEntry] = []
    /// Why SQLite rolled the open transaction back by itself, if it did.
    private(set) var lostTransaction: YapDatabaseError?
    private let collections: [String: Collection]
    private var recent: Collection?

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

    /// The registered collection, or `nil`.
    func collection(_ name: String) -> Collection? {
        if let recent, recent.registration.collection.hasSameBytes(as: name) { return recent }
        guard let found = collections[name], found.registration.collection.hasSameBytes(as: name) else {
            return nil
        }
        recent = found
        return found
    }

    /// The registered collection; throws when there is none.
    func registered(_ name: String) throws -> Collection {
        if let found = collection(name) { return found }
        throw YapDatabaseError.missingRegistration(ofCollection: name)
    }

    // MARK: Statements

    /// Runs `body` with the prepared statement. SQLite's errors are thrown as the database's own.
    func statement<Result>(_ sql: String, _ body: (borrowing Statement) throws -> Result) throws -> Result {
        do {
            return try sqlite.withStatement(sql, body)
        } catch let error as SQLiteError {
            throw noted(error)
        }
    }

    /// The error as the database's own; remembers it when it took the transaction with it. From then on
    /// nothing may run on this handle until the owner has dealt with it: it would be committed at once, by
    /// itself.
    func noted(_ error: SQLiteError) -> YapDatabaseError {
        let wrapped = YapDatabaseError(error)
        if !sqlite.isInTransaction, lostTransaction == nil { lostTransaction = wrapped }
        return wrapped
    }

    func transactionBegan() {
        lostTransaction = nil
    }

    // MARK: Snapshots

    /// Brings the caches to `newMark`, which was read in the open transaction: from the log, or by dropping
    /// them.
    func catchUp(to newMark: SnapshotMark, log: CommitLog) {
        if newMark != mark {
            if let records = log.records(from: mark, to: newMark) {
                for record in records { apply(record) }
            } else {
                log.noteUnexplained(newMark)
                dropCaches()
                mark = newMark
            }
        }
        useRegistry(log.registry, at: mark.number)
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
        for entry in extensions { entry.connection.dropCaches() }
    }

    /// Applies one commit of another connection.
    private func apply(_ record: CommitRecord) {
        if record.changes.isAllCleared { dropRowCaches() }
        for (name, changes) in record.changes.collections {
            guard let collection = collection(name.string) else { continue }
            if changes.isCleared || changes.isOverflown { collection.cache.removeAll() }
            if collection.cache.isEmpty { continue }
            for (key, change) in changes.rows { collection.cache.apply(change, key: key.string) }
        }
        for (generation, changes) in record.extensionChanges {
            extensions.first { $0.registered.generation == generation }?.connection.apply(changes)
        }
        mark = record.mark
    }

    // MARK: Extensions

    /// Keeps the connections of the extensions that are still registered, and makes those of new ones.
    func useRegistry(_ registry: [RegisteredExtension], at snapshot: UInt64) {
        if extensions.isEmpty, registry.isEmpty { return }
        let visible = registry.filter { $0.sinceSnapshot <= snapshot }
        if visible.elementsEqual(extensions, by: { $0.generation == $1.registered.generation }) { return }
        extensions = visible.map { registered in
            extensions.first { $0.registered.generation == registered.generation }
                ?? ExtensionEntry(
                    registered: registered,
                    connection: registered.instance.makeConnection(registeredName: registered.name))
        }
    }
}
