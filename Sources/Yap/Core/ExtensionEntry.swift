import SQLite
import System

/// An extension at one SQLite handle.
final class ExtensionEntry {
    private(set) var registered: RegisteredExtension
    let connection: any YapDatabaseExtensionConnection
    let tables: TableStatements
    /// Up to which rowid its tables have the rows, while it is being filled; nil: they have all.
    var filledThrough: Int64?
    /// Whether the file's note of the extension was read since another process wrote.
    var isChecked = false
    /// Whether the file says that the tables are another version's, or those of an extension that it depends on.
    private(set) var isReplaced = false
    /// Whether the file says that the tables lack rows, or those of an extension that it depends on.
    private(set) var isBehind = false
    /// Whether the writer can bring the tables up to date without a registration, perhaps after those of an extension
    /// that it depends on.
    private(set) var canCatchUp = false
    /// Whether an extension that it depends on has to be brought up to date first.
    private(set) var waitsForDependencies = false
    /// How many rows it is handed in a transaction while it catches up at its registration.
    var pace = CatchUpPace()
    /// Up to which rowid another process has filled the tables.
    private var notedThrough: Int64?
    /// Whether its transactions are `RowHooks`.
    let hasHooks: Bool
    /// The collections that it hears of; nil: all.
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

    /// From `registered` on its tables have all rows.
    func complete(as registered: RegisteredExtension) {
        self.registered = registered
        filledThrough = nil
        (isChecked, isBehind, canCatchUp, notedThrough) = (false, false, false, nil)
    }

    /// Gives up catching up until another process writes: a row can't be read, or the extension throws.
    func catchingUpFailed() { canCatchUp = false }

    /// Reads the file's note of the extension, if another process may have changed it. Others than those that are
    /// filled look after their tables themselves.
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
        // A replaced one is read again each time: it may be a commit of this process that sets another version.
        isChecked = !isReplaced
    }

    /// Checks again after an extension that it depends on was brought up to date.
    func checkAgain(_ store: StoreConnection) throws {
        isChecked = false
        try check(store)
    }

    /// What the extension hears of a change; nil: nothing.
    func heard(_ change: YapDatabaseRowChange) -> YapDatabaseRowChange? {
        if isReplaced { return nil }
        if let collection = change.collection, !hears(of: collection) { return nil }
        // The other rows are handed over later, here or by another process.
        return (filledThrough ?? notedThrough).map { change.limited(toRowsThrough: $0) } ?? change
    }

    func hears(of collection: String) -> Bool {
        collections?.contains { $0.hasSameBytes(as: collection) } ?? true
    }
}
