import SQLite
import System

/// An extension at one SQLite handle.
final class ExtensionEntry {
    private(set) var registered: RegisteredExtension
    let connection: any YapDatabaseExtensionConnection
    let tables: TableStatements
    /// Last rowid with which its tables have been filled. Nil when they have all rows.
    var filledThrough: Int64?
    /// True if the file's note of the extension was read after the last write of another process.
    var isChecked = false
    /// True if the file says that another version wrote the tables of this extension or of a dependency.
    private(set) var isReplaced = false
    /// True if the file says that the tables of this extension or of a dependency lack rows.
    private(set) var isBehind = false
    /// True if the writer can update the tables without a registration, perhaps after those of a dependency.
    private(set) var canCatchUp = false
    /// True if a dependency has to be updated first.
    private(set) var waitsForDependencies = false
    /// Number of rows that it receives in a transaction while it catches up at its registration.
    var pace = CatchUpPace()
    /// Last rowid with which another process has filled the tables.
    private var notedThrough: Int64?
    /// True if its transactions are `RowHooks`.
    let hasHooks: Bool
    /// Collections that it observes. Nil for all.
    private let collections: [String]?
    let dependencies: [String]

    init(_ registered: RegisteredExtension, _ sqlite: Connection) {
        let instance = registered.instance
        self.registered = registered
        connection = instance.makeConnection(registeredName: registered.name)
        tables = TableStatements(
            sqlite, owned: instance.tableNames(registeredName: registered.name), readable: ["database2"])
        hasHooks = instance.hasHooks
        collections = instance.collections
        dependencies = instance.dependencies
    }

    var isFilling: Bool { filledThrough != nil }

    /// Marks the tables as complete: they have all rows from `registered` on.
    func complete(as registered: RegisteredExtension) {
        self.registered = registered
        filledThrough = nil
        (isChecked, isBehind, canCatchUp, notedThrough) = (false, false, false, nil)
    }

    /// Stops catching up until another process writes, because a row can't be read or the extension throws.
    func catchingUpFailed() { canCatchUp = false }

    /// Reads the file's note of the extension if another process may have changed it. Extensions that aren't
    /// filled maintain their tables themselves.
    func check(_ store: StoreConnection) throws {
        guard !isChecked, registered.isFilled, !isFilling else { return }
        let stored = StoredExtension(registered.name, store)
        isReplaced = try !stored.isOf(registered.instance)
        notedThrough = try stored.filledThrough()
        let missed = try stored.missed()
        isBehind = notedThrough != nil || missed != .none
        canCatchUp =
            switch missed {
            case .none: notedThrough == nil
            case .known: notedThrough == nil && registered.instance.instanceCatchesUp
            case .unknown: false
            }
        waitsForDependencies = false
        for entry in store.extensions where dependencies.contains(entry.registered.name) {
            try entry.check(store)
            isReplaced = isReplaced || entry.isReplaced
            guard entry.isBehind else { continue }
            (isBehind, waitsForDependencies) = (true, true)
            canCatchUp = canCatchUp && entry.canCatchUp
        }
        canCatchUp = canCatchUp && isBehind && !isReplaced
        // The note of a replaced extension is read every time, because the change may be a commit of this process
        // that sets another version.
        isChecked = !isReplaced
    }

    /// Checks again after a dependency was updated.
    func checkAgain(_ store: StoreConnection) throws {
        isChecked = false
        try check(store)
    }

    /// Returns the part of a change that the extension receives, or nil if there is none.
    func heard(_ change: YapDatabaseRowChange) -> YapDatabaseRowChange? {
        if isReplaced { return nil }
        if let collection = change.collection, !hears(of: collection) { return nil }
        // The other rows are passed to it later, here or by another process.
        return (filledThrough ?? notedThrough).map { change.limited(toRowsThrough: $0) } ?? change
    }

    func hears(of collection: String) -> Bool {
        collections?.contains { $0.hasSameBytes(as: collection) } ?? true
    }
}
