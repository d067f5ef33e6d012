import SQLite

/// Fills extensions that are being registered, with a batch of rows in each transaction, so that other writes
/// can run in between.
///
/// Rows are read in the order of their rowids. An extension receives changes of the rows that it already has;
/// it receives the other rows later. The last rowid is stored with each batch. Extensions at the same row are
/// filled together, so each row is read and decoded once. Rows that another process writes while it hasn't
/// registered an extension are passed to the extension by `ExtensionCatchUp`, in the same transactions.
struct ExtensionFiller {
    /// Maximum rows of one batch, including rows that no extension observes.
    static let scannedRowsMax = 2_000
    /// Maximum bytes of objects and metadata in one batch, except the last row.
    static let batchBytesMax = 1 << 20

    private let core: WriterCore
    private var store: StoreConnection { core.store }

    init(_ core: WriterCore) {
        self.core = core
    }

    /// Passes the next batch to the extensions.
    ///
    /// - Parameter generation: The registration that the caller waits for.
    /// - Returns: The completed part of the rows, from 0 to 1. Nil when it is complete.
    /// - Throws: The error of the extension; `extensionNotRegistered` if it was unregistered meanwhile; `decoding`
    ///   for a row that can't be read.
    func fillNext(_ generation: UInt64) throws -> Double? {
        if core.log.registry.contains(where: { $0.generation == generation }) { return nil }
        let saved = store.savedFilling()
        do {
            try core.alone { try fill(in: $0) }
        } catch let failure as Failure {
            // The other extensions continue without those that failed.
            store.restoreFilling(saved)
            for failed in failure.generations { core.stopFilling(failed, because: failure.error) }
        } catch {
            store.restoreFilling(saved)
            throw error
        }
        if let failure = core.takeFillFailure(generation) { throw failure }
        return try entry(generation).flatMap { try part($0) }
    }

    /// Error of one extension's rows or code.
    private struct Failure: Error {
        let generations: [UInt64]
        let error: any Error
    }

    private func fill(in transaction: YapDatabaseReadWriteTransaction) throws {
        guard !store.filling.isEmpty else { return }
        transaction.isHandingRows = true
        // Also for the flush, in which the rules of missed rows run.
        transaction.passesOverMissed = true
        var uses: [YapDatabaseReadTransaction.ExtensionUse] = []
        for use in try transaction.uses() where try isReady(use.entry) {
            try handMissed(to: use, in: transaction)
            uses.append(use)
        }
        guard let start = uses.compactMap(\.entry.filledThrough).min() else { return }
        try hand(read(after: start, for: uses.map(\.entry)), to: uses, in: transaction)
    }

    /// Returns true if an extension is being filled, and its dependencies have all rows. Otherwise it would
    /// be filled from incomplete dependencies.
    private func isReady(_ entry: ExtensionEntry) throws -> Bool {
        guard entry.isFilling else { return false }
        switch try core.state(ofDependencies: entry.dependencies) {
        case .areComplete: return true
        case .catchUp: return false
        case .cannotBeRead(let dependency, _):
            return try attributing(to: [entry]) {
                throw WriterCore.unreadable(dependency, of: entry.registered.name)
            }
        }
    }

    /// Passes rows to the extension that another process wrote without it. If these rows are unknown, it
    /// starts over.
    private func handMissed(
        to use: YapDatabaseReadTransaction.ExtensionUse, in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let (instance, stored) = (
            use.entry.registered.instance, StoredExtension(use.entry.registered.name, store)
        )
        switch try stored.missed() {
        case .none: return
        case .known where instance.instanceCatchesUp:
            try attributing(to: [use.entry]) {
                try ExtensionCatchUp(store).hand(to: use, in: transaction)
            }
        case .known, .unknown:
            let previous = try stored.registration(of: instance)
            let content = try attributing(to: [use.entry]) {
                try use.transaction.register(previous: previous)
            }
            try stored.save(instance, content)
            switch content {
            case .isEmpty: use.entry.filledThrough = 0
            case .isUnchanged: break
            case .isComplete: use.entry.filledThrough = .max
            }
            try stored.setFilledThrough(use.entry.filledThrough)
        }
    }

    private func attributing<Result>(to entries: [ExtensionEntry], _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch {
            throw Failure(generations: entries.map(\.registered.generation), error: error)
        }
    }

    private struct Batch {
        var rows: [YapDatabaseStoredRow] = []
        /// The last row that was read.
        var end: Int64
        /// True if no row follows it.
        var isLast = false
    }

    private func entry(_ generation: UInt64) -> ExtensionEntry? {
        store.filling.first { $0.registered.generation == generation }
    }

    private func read(after start: Int64, for entries: [ExtensionEntry]) throws -> Batch {
        let sql =
            "SELECT rowid, collection, key, data, metadata FROM database2 WHERE rowid > ?1 ORDER BY rowid LIMIT ?2"
        return try store.statement(sql) { statement in
            try statement.bind(start, at: 1)
            try statement.bind(Self.scannedRowsMax, at: 2)
            var batch = Batch(end: start)
            var (scannedCount, bytesCount) = (0, 0)
            while batch.rows.count < YapDatabaseExtensionRegistration.filledRowsMax,
                bytesCount < Self.batchBytesMax
            {
                guard try statement.step() else {
                    batch.isLast = scannedCount < Self.scannedRowsMax
                    break
                }
                scannedCount += 1
                batch.end = statement.int64(at: 0)
                guard let row = try row(statement, entries) else { continue }
                batch.rows.append(row)
                bytesCount += statement.rowBytesCount
            }
            return batch
        }
    }

    /// Returns the statement's current row. Nil if no extension that is being filled observes it, or if the
    /// type of its objects isn't registered. In the latter case the row can't be written either.
    private func row(_ statement: borrowing Statement, _ entries: [ExtensionEntry]) throws
        -> YapDatabaseStoredRow?
    {
        let collection = statement.text(at: 1)
        let rowID = statement.int64(at: 0)
        let wanting = entries.filter { rowID > $0.filledThrough ?? .max && $0.hears(of: collection) }
        guard !wanting.isEmpty, let registration = store.collection(collection)?.registration else {
            return nil
        }
        return try attributing(to: wanting) { try registration.row(rowID, collection, statement) }
    }

    private func hand(
        _ batch: Batch, to uses: [YapDatabaseReadTransaction.ExtensionUse],
        in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        var complete: [RegisteredExtension] = []
        for use in uses {
            let entry = use.entry
            guard let filledThrough = entry.filledThrough else { continue }
            let rows = batch.rows.filter { row in
                row.identity.rowID > filledThrough && entry.hears(of: row.identity.collection)
            }
            try attributing(to: [entry]) { try hand(rows, to: use, in: transaction) }
            let stored = StoredExtension(entry.registered.name, store)
            if batch.isLast || filledThrough == .max {
                try stored.setFilledThrough(nil)
                entry.filledThrough = .max
                if try stored.missed() == .none {
                    complete.append(entry.registered.filled(since: store.mark.number + 1))
                }
            } else if batch.end > filledThrough {
                try stored.setFilledThrough(batch.end)
                entry.filledThrough = batch.end
            }
        }
        if !complete.isEmpty { core.complete(complete, in: transaction) }
    }

    private func hand(
        _ rows: [YapDatabaseStoredRow], to use: YapDatabaseReadTransaction.ExtensionUse,
        in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        guard !rows.isEmpty else { return }
        let recordedCount = transaction.recordedCount
        transaction.passesOverMissed = false
        defer { transaction.passesOverMissed = true }
        try use.transaction.fill(rows)
        guard transaction.recordedCount == recordedCount else {
            throw YapDatabaseError(.extensionsDoNotSettle, "rows were changed in fill(_:)")
        }
    }

    /// Returns the completed part of an extension: of all rows by rowid, and then of the rows that it missed.
    private func part(_ entry: ExtensionEntry) throws -> Double? {
        guard let filledThrough = entry.filledThrough else { return nil }
        if filledThrough == .max { return entry.pace.part }
        // Outside the batch's transaction, because only the waiting caller needs it.
        let last = try store.statement("SELECT max(rowid) FROM database2") {
            try $0.step() ? $0.int64(at: 0) : 0
        }
        return min(1, Double(filledThrough) / Double(max(1, last)))
    }
}
