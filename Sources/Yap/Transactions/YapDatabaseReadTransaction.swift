import SQLite

/// One snapshot of the database, valid while the closure of `read` runs.
///
/// It sees exactly one commit, regardless of concurrent writes. It belongs to the thread of its closure. The compiler
/// rejects most uses outside the closure; any other throws `transactionEnded`.
public class YapDatabaseReadTransaction {
    /// The connection of the transaction. Nil after its end, for a transaction of the library itself (such as a
    /// registration), and for a transaction of a long-lived read.
    ///
    /// Hooks can use it to find out which connection writes. Beginning a read of this connection inside one of its
    /// reads throws `nestedTransaction`.
    public final private(set) var connection: YapDatabaseConnection?
    /// A value of the app for the duration of the transaction, to share between functions that it calls and hooks.
    /// Nil at the beginning. A savepoint that fails doesn't restore it.
    public final var userInfo: Any?

    final let store: StoreConnection
    /// The error that ended an iteration early. The enclosing `read` or `readWrite` throws it.
    final var iterationError: (any Error)?
    /// The error after which the transaction can't continue and nothing of it may be kept.
    final var failure: (any Error)?
    /// Whether the task of an asynchronous call was cancelled. Nil for other calls.
    final var cancellation: TransactionCancellation?
    /// Number of rows added or removed in this transaction, for iterations that are running.
    final var mutations = MutationCounter()
    /// Reads of this transaction, recorded for `observe`; otherwise nil. Without access checks, because every read
    /// begins here.
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

    /// Number of the commit that this transaction sees. For a write transaction, the newest commit.
    public final var snapshot: UInt64 { store.mark.number }

    final var rows: RowTable { RowTable(store: store) }

    /// The SQLite connection, for extensions of this package. Inside a write transaction, everything done with it is
    /// part of the transaction. End its statements before the closure ends.
    package final var sqlite: Connection { store.sqlite }

    /// Checks that the transaction can be used. Every method begins with this call.
    final func check() throws {
        guard isOpen else { throw YapDatabaseError(.transactionEnded, "the transaction's closure has ended") }
        // Stored as the failure, so that the transaction fails even if its closure catches the error.
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

    /// Returns the transaction of an extension.
    ///
    /// ```swift
    /// let view = try transaction.ext("byDate", as: YapDatabaseView<Todo, String>.self)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name that the extension is registered under.
    ///   - type: The class of the extension.
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if this snapshot has no extension of that name and
    ///   class.
    public final func ext<Extension: YapDatabaseExtension>(
        _ name: String, as type: Extension.Type
    ) throws -> Extension.Connection.Transaction {
        try check()
        if !Extension.notesReads { dependencies?.addEverything() }
        return try part(of: name, as: type)
    }

    /// Returns the transaction of an extension. The extension itself records its reads.
    final func part<Extension: YapDatabaseExtension>(of name: String, as type: Extension.Type) throws
        -> Extension.Connection.Transaction
    {
        // While the transaction objects are being created, an extension that requests another one finds it
        // among the objects created so far.
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

    /// Returns the generation of the registration under a name, which distinguishes it from other registrations. Nil
    /// if there is none.
    final func generation(of name: String) -> UInt64? {
        extensionTransactions.first { $0.entry.registered.name == name }?.entry.registered.generation
    }

    /// Returns all extensions of this transaction. Each gets its transaction object at the first use of any of them.
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

    /// Extensions that already have a transaction object.
    final var usesSoFar: [ExtensionUse] { extensionTransactions }
}

@available(*, unavailable) extension YapDatabaseReadTransaction: Sendable {}

/// Counts additions and removals of rows by collection.
struct MutationCounter {
    private var all = 0
    private var counts: [String: Int] = [:]

    /// Total of all collections.
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
