import SQLite

/// Writes of a relationship in one transaction.
///
/// A deleted row deletes its edges at once. Edges with rules for the other end are kept in the table of pending rules
/// until the flush. So their number isn't limited by memory, a savepoint undoes them, and any number of rows may be
/// removed before, in any order.
final class RelationshipWriter {
    let relationship: YapDatabaseRelationship
    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadWriteTransaction
    let tables: YapDatabaseExtensionTables
    let sql: RelationshipSQL
    /// True if files may have been noted. A savepoint that fails keeps it true, and nothing is found to delete.
    var hasNotedFiles = false
    /// True if edges wait for an end. True after a savepoint that failed, because the edges that it removed may be
    /// back.
    private lazy var isAwaiting: Result<Bool, any Error> = Result {
        try tables.withStatement(sql.isAwaiting) { try $0.step() }
    }
    /// True if missing rows of edges may come at a registration.
    private lazy var areRowsFetched: Result<Bool, any Error> = Result { try transaction.areRowsFetched() }
    private var changes = RelationshipChanges()
    private lazy var entry = transaction.usesSoFar.first { use in
        (use.transaction as? YapDatabaseRelationshipTransaction)?.writer === self
    }?.entry

    init(
        _ connection: YapDatabaseRelationshipConnection, _ transaction: YapDatabaseReadWriteTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        relationship = connection.relationship
        sql = connection.sql
        self.transaction = transaction
        self.tables = tables
    }

    // MARK: Registration

    func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        let version = YapDatabaseRelationship.classVersion
        guard let previous, (1...version).contains(previous.classVersion) else {
            try tables.execute(sql.create)
            return .isEmpty
        }
        switch previous.classVersion {
        case 1: try tables.execute(sql.upgradeFrom1)
        case 2: try tables.execute(sql.upgradeFrom2)
        default: break
        }
        let isSameVersion = previous.versionTag == relationship.versionTag
        // Earlier classes permanently dropped edges that their objects still have.
        if isSameVersion, previous.classVersion == version, previous.missedChanges != .unknown {
            return .isUnchanged
        }
        // Rules of another version don't run. Rows at the ends of the other edges may have been removed.
        if !isSameVersion {
            try tables.run(sql.deleteOfObjects)
            try tables.run(sql.deletePendingOfObjects)
            try tables.run(sql.dropRulesOfAbsent)
            try deleteUnheard()
        }
        // The others are compared with those of their objects.
        try tables.run(sql.deleteAbsentWithoutSource)
        try tables.run(sql.uncheckAll)
        changes.noteAll()
        return .isEmpty
    }

    func fill(_ rows: [YapDatabaseStoredRow]) throws {
        guard let last = rows.map(\.identity.rowID).max() else { return }
        for row in rows {
            try arrive(row.identity)
            try setEdges(of: row.object, at: row.identity, heardThrough: last, isNew: false)
        }
    }

    /// Deletes edges in collections that it no longer observes.
    private func deleteUnheard() throws {
        guard let collections = relationship.collections else { return }
        let list = (1...max(1, collections.count)).map { "?\($0)" }.joined(separator: ", ")
        let values = collections.map { YapDatabaseColumnValue.text($0) }
        for statement in sql.deleteOutside(list) { try tables.run(statement, values) }
    }

    // MARK: Following rows

    func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _):
            try arrive(row)
            try setEdges(of: object, at: row, heardThrough: heardThrough, isNew: true)
        case .update(let row, let object, _), .replaceObject(let row, let object):
            try setEdges(of: object, at: row, heardThrough: heardThrough, isNew: true)
        case .remove(let rows): for row in rows { try removeEdges(of: row) }
        case .removeAll:
            changes.noteAll()
            for statement in sql.removeAllRows { try tables.run(statement) }
        case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// Marks edges that waited for the row: both ends exist now.
    private func arrive(_ row: YapDatabaseRowIdentity) throws {
        guard try isAwaiting.get() else { return }
        let values: [YapDatabaseColumnValue] = [.text(row.key), .text(row.collection)]
        try noteEdges(sql.absentOfDestination, values)
        for statement in sql.arrive { try tables.run(statement, values) }
    }

    private func setEdges(
        of object: any Sendable, at row: YapDatabaseRowIdentity, heardThrough: Int64, isNew: Bool
    ) throws {
        let source = YapCollectionKey(collection: row.collection, key: row.key)
        guard let (wanted, mistake) = relationship.edges(of: object, at: source) else {
            if !isNew { _ = try takeAbsent(of: row) }
            return
        }
        if let mistake {
            // A stored object that was fetched may have had the mistake then.
            guard try transaction.passesOverMistakes || !isNew && areRowsFetched.get() else { throw mistake }
            try noteProblem(at: source, mistake)
        }
        let stored = try tables.withStatement(sql.ofObject, [.text(row.key), .text(row.collection)]) {
            statement in
            var stored: [YapDatabaseEdge: Int64] = [:]
            while try statement.step() { stored[YapDatabaseEdge(statement)] = statement.int64(at: 8) }
            return stored
        }
        let kept = stored.isEmpty ? [] : Set(wanted)
        for (edge, id) in stored.sorted(by: { $0.value < $1.value }) where !kept.contains(edge) {
            try tables.run(sql.delete, [.integer(id)])
            note(edge)
        }
        let absent = try takeAbsent(of: row)
        for edge in wanted {
            if let same = stored.index(forKey: edge), stored[same].key.rules == edge.rules { continue }
            try set(edge, heardThrough: heardThrough, isNew: isNew, wasAbsent: absent.contains(edge))
        }
    }

    /// Deletes and returns the edges of an object to missing rows.
    private func takeAbsent(of row: YapDatabaseRowIdentity) throws -> Set<YapDatabaseEdge> {
        guard try isAwaiting.get() else { return [] }
        let values: [YapDatabaseColumnValue] = [.text(row.key), .text(row.collection)]
        let absent = try tables.withStatement(sql.absentOfSource, values) { statement in
            var absent: Set<YapDatabaseEdge> = []
            while try statement.step() { absent.insert(YapDatabaseEdge(statement)) }
            return absent
        }
        if !absent.isEmpty { try tables.run(sql.deleteAbsentOfSource, values) }
        return absent
    }

    /// Adds an edge, or sets the rules of the existing one.
    ///
    /// - Parameters:
    ///   - heardThrough: Last rowid with which the relationship receives removals. An end beyond it is looked up
    ///     again when all rows are there.
    ///   - isNew: Whether an end may be missing until the flush. Otherwise the edge is created when the end comes,
    ///     and if rows are fetched it counts until then.
    ///   - wasAbsent: Whether its destination was deleted before, so that it isn't a row that may still come: the
    ///     edge doesn't count without it.
    func set(_ edge: YapDatabaseEdge, heardThrough: Int64, isNew: Bool, wasAbsent: Bool = false) throws {
        var ends = edge.isManual ? [edge.source] : []
        switch edge.destination {
        case .row(let row): ends.append(row)
        case .file(let file): try tables.run(sql.keepFile, [.text(file)])
        }
        var check: EdgeCheck?
        for end in ends {
            let rowID = try transaction.rowID(forKey: end.key, inCollection: end.collection)
            if rowID == nil, !isNew || transaction.mayLackRows {
                guard try !wasAbsent && (isNew || areRowsFetched.get()) else {
                    isAwaiting = .success(true)
                    try tables.run(sql.addAbsent, edge.values)
                    return
                }
                // At once, because the flush of this transaction may have to wait until all rows are handed over.
                check = .awaiting
                isAwaiting = .success(true)
            } else if rowID ?? .max > heardThrough || rowID == nil {
                check = check ?? .open
            }
        }
        // An edge that equals the stored one changes no row.
        let unchecked = check.map { YapDatabaseColumnValue.integer($0.rawValue) } ?? .null
        let count = try tables.run(sql.set, edge.values + [unchecked])
        if count > 0 { note(edge) }
    }

    private func removeEdges(of row: YapDatabaseRowIdentity) throws {
        let values: [YapDatabaseColumnValue] = [.text(row.key), .text(row.collection)]
        // An existing row was changed while the relationship wasn't registered; `fill` gets it next.
        let isConcerned = try tables.withStatement(sql.concernsMissingRow, values) {
            try $0.step() && $0.int64(at: 0) != 0
        }
        guard isConcerned else { return }
        try noteEdges(sql.ofRow, values)
        isAwaiting = .success(true)
        for statement in sql.removeRow(mayComeAgain: transaction.mayLackRows) {
            try tables.run(statement, values)
        }
    }

    /// Last rowid with which the relationship receives removals.
    var heardThrough: Int64 {
        guard let entry else { return 0 }
        return entry.isBehind ? 0 : entry.filledThrough ?? .max
    }

    // MARK: Changes

    var changesSoFar: (any Sendable)? { changes.isEmpty ? nil : changes }

    func makeRestorePoint() -> () -> Void {
        // The earlier changes aren't copied: they are at the beginning.
        let (count, isOfAll) = (changes.count, changes.isOfAll)
        return {
            self.changes.restore(count: count, isOfAll: isOfAll)
            self.isAwaiting = .success(true)
        }
    }

    func note(_ edge: YapDatabaseEdge) {
        changes.note(edge, max: transaction.store.changedKeysPerCommitMax)
    }

    /// Records that anything may have changed.
    func noteAll() { changes.noteAll() }

    /// Records the edges that a query finds, up to the maximum.
    func noteEdges(_ query: String, _ values: [YapDatabaseColumnValue] = []) throws {
        try tables.withStatement(query, values) { statement in
            while !changes.isOfAll, try statement.step() { note(YapDatabaseEdge(statement)) }
        }
    }

    // MARK: Files

    func noteFile(_ file: String) throws {
        if try tables.run(sql.addFile, [.text(file)]) > 0 { hasNotedFiles = true }
    }

    /// Removes the notes of deleted files, and counts the attempt for files that can't be deleted.
    func finishFiles(deleted: [Int64], failed: [Int64]) throws {
        for id in deleted { try tables.run(sql.deleteFile, [.integer(id)]) }
        if failed.isEmpty { return }
        for id in failed { try tables.run(sql.countAttempt, [.integer(id)]) }
        let hopeless = try tables.rows(
            sql.hopelessFiles,
            [
                .integer(Int64(RelationshipFiles.attemptsMax)), .integer(Int64(RelationshipFiles.triedMax)),
                .integer(Int64(failed.count)),
            ])
        for row in hopeless {
            guard case (.integer(let id), .text(let file)) = (row[0], row[1]) else { continue }
            try tables.run(sql.deleteFile, [.integer(id)])
            try noteProblem(
                at: YapCollectionKey(collection: "", key: file),
                YapDatabaseError(.inputOutput, "the file can't be deleted, and is not tried again: \(file)"))
        }
    }

    // MARK: Rules

    /// Drops edges that have a missing end. Edges of fetched rows wait for it.
    func checkEnds() throws {
        try tables.run(sql.uncheckComplete)
        if transaction.mayLackRows {
            if try tables.run(sql.awaitUnchecked) > 0 { isAwaiting = .success(true) }
            return
        }
        for statement in sql.check { try tables.run(statement) }
        try noteEdges(sql.uncheckedEdges)
        isAwaiting = .success(true)
        for statement in sql.deleteUnchecked { try tables.run(statement) }
    }

    /// Applies the rules, and those of other relationships to the deletions of this one, until none is left.
    ///
    /// A cascade between relationships, of any length, is one round of the transaction.
    func flush() throws {
        guard try applyRules() else { return }
        let others = transaction.usesSoFar.compactMap {
            ($0.transaction as? YapDatabaseRelationshipTransaction)?.writer
        }
        guard others.count > 1 else { return }
        var rounds = 0
        while try others.reduce(false, { try $1.applyRules() || $0 }) {
            rounds += 1
            guard rounds > RelationshipCascade.roundsMax else { continue }
            let endless = YapDatabaseError(
                .extensionsDoNotSettle, "rules of relationships remove rows without end")
            guard transaction.passesOverMistakes else { throw endless }
            // Otherwise each round of the transaction would continue with them.
            for other in others where other.canApplyRules { try RelationshipCascade(other).dropRules() }
            return try noteProblem(at: YapCollectionKey(collection: "", key: relationship.name), endless)
        }
    }

    /// False while the relationship lacks edges of rows that aren't handed over yet, because those may keep the other
    /// end of a deleted edge. False too if another process has replaced it: its tables may then have another format.
    private var canApplyRules: Bool {
        guard let entry else { return false }
        return !entry.isFilling && !entry.isBehind && !entry.isReplaced
    }

    /// Applies the rules, unless it has to wait.
    ///
    /// - Returns: True if rows were removed or replaced.
    private func applyRules() throws -> Bool {
        guard canApplyRules else { return false }
        let writeCount = transaction.writeCount
        try RelationshipCascade(self).run()
        return transaction.writeCount != writeCount
    }
}
