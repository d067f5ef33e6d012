import SQLite

/// One snapshot of the database, for as long as the closure of `read` runs.
///
/// It sees one commit and only that, whatever is written meanwhile. It belongs to the thread of its closure
/// and can't leave it: the compiler refuses where it can, and a call after the end throws `transactionEnded`.
public class YapDatabaseReadTransaction {
    /// The connection that the transaction belongs to. nil after its end, for a transaction of the library itself, such
    /// as that of a registration, and for one of a long-lived read.
    ///
    /// A read of it can't begin inside of one of its reads. A hook can see here which connection writes.
    public final private(set) var connection: YapDatabaseConnection?
    /// A value of the app's own for as long as the transaction runs: for functions that it calls with the transaction,
    /// and for hooks. nil at the beginning. A savepoint that fails doesn't restore it.
    public final var userInfo: Any?

    final let store: StoreConnection
    /// Why an iteration ended early; the enclosing `read` or `readWrite` throws it.
    final var iterationError: (any Error)?
    /// Why the transaction can't go on and nothing of it may be kept.
    final var failure: (any Error)?
    /// Whether the task of an asynchronous call was cancelled; nil for others.
    final var cancellation: TransactionCancellation?
    /// Which rows were added or removed in this transaction, for iterations that are under way.
    final var mutations = MutationCounter()
    /// What was read, for `observe`; else nil. Without access checks: every read begins here.
    @exclusivity(unchecked) final var dependencies: ReadDependencies?
    private final var isOpen = true
    private final var extensionTransactions: [ExtensionUse] = []
    private final var isMakingUse = false
    private final var cursors: [WeakCursor] = []

    struct ExtensionUse {
        let entry: ExtensionEntry
        let transaction: any YapDatabaseExtensionTransaction
    }

    private struct WeakCursor { weak var cursor: RowCursor? }

    init(_ store: StoreConnection, _ connection: YapDatabaseConnection?) {
        self.store = store
        self.connection = connection
    }

    /// The number of the commit that this transaction sees. A write transaction sees the newest one.
    public final var snapshot: UInt64 { store.mark.number }

    final var rows: RowTable { RowTable(store: store) }

    /// The SQLite connection, for the extensions of this package. Inside a write transaction everything done
    /// with it is part of that transaction. Its statements must be ended before the closure ends.
    package final var sqlite: Connection { store.sqlite }

    /// Every method begins with this.
    final func check() throws {
        guard isOpen else { throw YapDatabaseError(.transactionEnded, "the transaction's closure has ended") }
        // Kept as the failure, so that the transaction fails also if its closure catches the error.
        if failure == nil, cancellation?.isCancelled == true { failure = CancellationError() }
        if let failure = failure ?? store.lostTransaction { throw failure }
    }

    final func end() {
        isOpen = false
        connection = nil
        userInfo = nil
        for cursor in cursors { cursor.cursor?.close() }
        cursors = []
        extensionTransactions = []
    }

    final func keep(_ cursor: RowCursor) {
        if cursors.count > 16 { cursors.removeAll { $0.cursor == nil } }
        cursors.append(WeakCursor(cursor: cursor))
    }

    final var isEnded: Bool { !isOpen }

    // MARK: Extensions

    /// The part that an extension plays in this transaction.
    ///
    /// - Parameters:
    ///   - name: The name it is registered under.
    ///   - type: Its class.
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`: no such name in this snapshot, or
    ///   another class.
    public final func ext<Extension: YapDatabaseExtension>(
        _ name: String, as type: Extension.Type
    ) throws -> Extension.Connection.Transaction {
        try check()
        if !Extension.notesReads { dependencies?.addEverything() }
        return try part(of: name, as: type)
    }

    /// The part that an extension plays in this transaction. What is read with it, the extension notes itself.
    final func part<Extension: YapDatabaseExtension>(of name: String, as type: Extension.Type) throws
        -> Extension.Connection.Transaction
    {
        // One that asks for another while its own part is being made finds it among those that are made.
        let uses = isMakingUse ? extensionTransactions : try uses()
        guard let use = uses.first(where: { $0.entry.registered.name == name }),
            let transaction = use.transaction as? Extension.Connection.Transaction
        else {
            throw YapDatabaseError(.extensionNotRegistered, "no \(type) is registered as \"\(name)\"")
        }
        try use.entry.check(store)
        if use.entry.isFilling || use.entry.isBehind || use.entry.isReplaced {
            if use.entry.canCatchUp { store.wantsHealing = true }
            let reason =
                use.entry.isFilling ? "it is being filled" : "another process wrote without it, or fills it"
            throw YapDatabaseError(.extensionNotRegistered, "\"\(name)\" can't be read: \(reason)")
        }
        return transaction
    }

    /// What tells the registration under a name from others; nil without one.
    final func generation(of name: String) -> UInt64? {
        extensionTransactions.first { $0.entry.registered.name == name }?.entry.registered.generation
    }

    /// All extensions of this transaction; each gets its transaction object at the first use of any.
    final func uses() throws -> [ExtensionUse] {
        while extensionTransactions.count < store.extensions.count {
            let entry = store.extensions[extensionTransactions.count]
            isMakingUse = true
            defer { isMakingUse = false }
            let tables = YapDatabaseExtensionTables(entry, self)
            let transaction = entry.connection.makeTransaction(self, tables: tables)
            extensionTransactions.append(ExtensionUse(entry: entry, transaction: transaction))
        }
        return extensionTransactions
    }

    /// The extensions that have a transaction object already.
    final var usesSoFar: [ExtensionUse] { extensionTransactions }
}

@available(*, unavailable) extension YapDatabaseReadTransaction: Sendable {}

/// Counts additions and removals of rows, by collection.
struct MutationCounter {
    private var all = 0
    private var counts: [String: Int] = [:]

    /// In all collections.
    private(set) var total = 0

    func count(_ collection: String) -> Int { all + (counts[collection] ?? 0) }

    mutating func mutated(_ collection: String) {
        counts[collection, default: 0] += 1
        total += 1
    }

    mutating func mutatedAll() {
        all += 1
        total += 1
    }
}
