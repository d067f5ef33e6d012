import SQLite

/// Applies the rules of deleted edges until none is left.
///
/// A row that is removed here adds the rules of its own edges to the table of pending ones, from which the loop takes
/// the next. So a cascade of any depth needs no recursion, and memory for one batch only. A cycle ends because each
/// removed row deletes its edges. The order is deterministic: by the rows' numbers within a batch.
struct RelationshipCascade {
    /// Number of rules applied at a time.
    static let batchMax = 500
    /// Maximum searches for edges with missing ends in one flush. Objects of `whenEdgeDeleted` that always
    /// have such edges would continue forever.
    static let checksMax = 1_000
    /// Maximum times that a cascade moves from one relationship to another.
    static let roundsMax = 100_000

    private let writer: RelationshipWriter
    private var tables: YapDatabaseExtensionTables { writer.tables }
    private var sql: RelationshipSQL { writer.sql }
    private var transaction: YapDatabaseReadWriteTransaction { writer.transaction }

    init(_ writer: RelationshipWriter) { self.writer = writer }

    /// A deleted edge with a pending rule.
    private struct Pending {
        let edge: YapDatabaseEdge
        let reason: YapDatabaseEdgeDeletionReason
        let id: Int64

        /// The end that wasn't deleted.
        var otherEnd: YapDatabaseEdgeDestination {
            reason == .sourceDeleted ? edge.destination : .row(edge.source)
        }

        /// The deleted end, or nil if none was deleted.
        var deletedRow: YapCollectionKey? {
            switch (reason, edge.destination) {
            case (.sourceDeleted, _): edge.source
            case (.destinationDeleted, .row(let row)): row
            case (.destinationDeleted, .file), (.edgeDeleted, _): nil
            }
        }

        /// True if its rules notify the other end.
        var notifies: Bool {
            edge.rules.contains(
                reason == .sourceDeleted ? .notifyIfSourceDeleted : .notifyIfDestinationDeleted)
        }
    }

    private enum Decision {
        case deletes
        case keeps
        /// It depends on rows that are still to come.
        case waits
    }

    private struct Work {
        var isUnchecked = false
        var isPending = false
        var isWaiting = false
        var isHeld = false
    }

    func run() throws {
        var work = try work()
        guard work.isUnchecked || work.isPending || work.isWaiting || work.isHeld else { return }
        let rows = try transaction.comingRows()
        // Even if this process doesn't fetch: the app may register its sync later, and another process may fetch.
        let isComing = rows.areComing || rows.areLeftBehind
        if work.isWaiting || work.isHeld, !isComing, try wake(rows) { work.isPending = true }
        var checksCount = 0
        while work.isUnchecked || work.isPending {
            if work.isUnchecked {
                checksCount += 1
                try writer.checkEnds()
            }
            guard checksCount <= Self.checksMax else { return try giveUp() }
            let batch = try next()
            if let last = batch.last {
                try tables.run(sql.deletePending, [.integer(last.id)])
                try fire(batch, isComing)
            }
            work = try self.work()
        }
    }

    /// Allows rules to run that waited for the last page. A paused fetch of another user has no last page
    /// yet: its remaining pages may contain other sources or destinations.
    ///
    /// - Returns: True if there may be such rules.
    private func wake(_ rows: ComingRows) throws -> Bool {
        var count = try tables.run(sql.wake(.comes))
        if !rows.arePaused { count += try tables.run(sql.wake(.isHeld)) }
        return count > 0
    }

    /// Returns whether edges may have a missing end, and whether rules are pending.
    private func work() throws -> Work {
        try tables.withStatement(sql.hasWork) { statement in
            guard try statement.step() else { return Work() }
            return Work(
                isUnchecked: statement.int64(at: 0) != 0, isPending: statement.int64(at: 1) != 0,
                isWaiting: statement.int64(at: 2) != 0, isHeld: statement.int64(at: 3) != 0)
        }
    }

    private func giveUp() throws {
        let name = writer.relationship.name
        let endless = YapDatabaseError(
            .extensionsDoNotSettle,
            "whenEdgeDeleted of \"\(name)\" returns objects with edges to missing rows again and again")
        guard transaction.passesOverMistakes else { throw endless }
        try dropRules()
        try writer.noteProblem(at: YapCollectionKey(collection: "", key: name), endless)
    }

    /// Discards the pending rules of all deletions so far.
    func dropRules() throws {
        try tables.run(sql.awaitUnchecked)
        try tables.run(sql.deletePending, [.integer(.max)])
    }

    private func next() throws -> [Pending] {
        try tables.withStatement(sql.nextPending, [.integer(Int64(Self.batchMax))]) { statement in
            var batch: [Pending] = []
            while try statement.step() {
                guard let reason = YapDatabaseEdgeDeletionReason(rawValue: statement.int64(at: 8)) else {
                    throw YapDatabaseError(.corrupt, "unknown reason in \(sql.pending)")
                }
                batch.append(
                    Pending(edge: YapDatabaseEdge(statement), reason: reason, id: statement.int64(at: 9)))
            }
            return batch
        }
    }

    // MARK: Firing

    /// If a mistake must not fail the transaction, only its rule is skipped.
    private func fire(_ batch: [Pending], _ isComing: Bool) throws {
        guard transaction.passesOverMistakes else { return try apply(batch, isComing) }
        guard try failure(of: { try apply(batch, isComing) }) != nil else { return }
        for pending in batch {
            guard let error = try failure(of: { try apply([pending], isComing) }) else { continue }
            let row: YapCollectionKey =
                switch pending.otherEnd {
                case .row(let row): row
                case .file: pending.edge.source
                }
            try writer.noteProblem(at: row, error)
        }
    }

    /// Runs `body`, and undoes it if it fails.
    ///
    /// - Throws: An error of the file or the disk, which the stored data hasn't caused.
    private func failure(of body: () throws -> Void) throws -> (any Error)? {
        do {
            try transaction.savepoint(body)
            return nil
        } catch let error as YapDatabaseError {
            switch error.code {
            case .savepointUnsupported: try body()
            case .diskFull, .inputOutput, .corrupt, .busy, .sqlite, .closed: throw error
            default: break
            }
            if let failure = transaction.failure { throw failure }
            return error.code == .savepointUnsupported ? nil : error
        } catch {
            if let failure = transaction.failure { throw failure }
            return error
        }
    }

    private func apply(_ batch: [Pending], _ isComing: Bool) throws {
        var removed: [YapDatabaseRowIdentity] = []
        var notified: [(Pending, YapCollectionKey)] = []
        for pending in batch {
            if try isMadeAgain(pending) { continue }
            switch (pending.otherEnd, try decision(pending, isComing)) {
            case (_, .waits):
                try tables.run(sql.addWaiting, pending.edge.values + [.integer(pending.reason.rawValue)])
            case (.file(let file), .deletes): try deleteFile(file)
            case (.file, .keeps): break
            case (.row(let row), .deletes):
                guard let rowID = try transaction.rowID(forKey: row.key, inCollection: row.collection) else {
                    continue
                }
                removed.append(
                    YapDatabaseRowIdentity(rowID: rowID, collection: row.collection, key: row.key))
            case (.row(let row), .keeps): if pending.notifies { notified.append((pending, row)) }
            }
        }
        try remove(removed)
        for (pending, row) in notified { try notify(pending, row) }
    }

    /// By collections, in the order of their first rows, so that extensions receive many rows at once.
    private func remove(_ rows: [YapDatabaseRowIdentity]) throws {
        var keys: [(collection: String, keys: [String])] = []
        var indices: [ExactString: Int] = [:]
        for row in rows.sorted(by: { $0.rowID < $1.rowID }) {
            let index = indices[ExactString(row.collection)] ?? keys.count
            if index == keys.count {
                indices[ExactString(row.collection)] = index
                keys.append((row.collection, []))
            }
            keys[index].keys.append(row.key)
        }
        for (collection, keys) in keys {
            try transaction.removeObjects(forKeys: keys, inCollection: collection)
        }
    }

    /// Returns true if a fetch has removed the row at the deleted end and created it again, in the page that is being
    /// stored or while the relationship was filled. The rule is then dropped. A page lists its deletions first.
    private func isMadeAgain(_ pending: Pending) throws -> Bool {
        guard transaction.passesOverMistakes, let row = pending.deletedRow,
            try transaction.rowID(forKey: row.key, inCollection: row.collection) != nil
        else { return false }
        // The edges of objects came back with the row.
        if pending.edge.isManual {
            try writer.set(pending.edge, heardThrough: writer.heardThrough, isNew: true)
            return true
        }
        // The row may have come back without its file.
        if case .file = pending.otherEnd { return false }
        return true
    }

    private func decision(_ pending: Pending, _ isComing: Bool) throws -> Decision {
        let edge = pending.edge
        let (always, ifAll): (YapDatabaseEdgeRules, YapDatabaseEdgeRules)
        let same: RelationshipFilter
        switch pending.reason {
        case .edgeDeleted: return .keeps
        case .sourceDeleted:
            (always, ifAll) = (.deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted)
            same = RelationshipFilter(name: edge.name, source: nil, destination: edge.destination)
        case .destinationDeleted:
            (always, ifAll) = (.deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted)
            same = RelationshipFilter(name: edge.name, source: edge.source, destination: nil)
        }
        if edge.rules.contains(always) { return .deletes }
        guard edge.rules.contains(ifAll) else { return .keeps }
        if try isAny(same) { return .keeps }
        return isComing ? .waits : .deletes
    }

    private func isAny(_ filter: RelationshipFilter) throws -> Bool {
        let (text, values) = sql.find("1", filter, order: " LIMIT 1")
        return try tables.withStatement(text, values) { try $0.step() }
    }

    /// Keeps the file if another edge leads to it, for example when a row was removed and created again.
    private func deleteFile(_ file: String) throws {
        if try !isAny(RelationshipFilter(name: nil, source: nil, destination: .file(file))) {
            try writer.noteFile(file)
        }
    }

    private func notify(_ pending: Pending, _ row: YapCollectionKey) throws {
        var object: (any Sendable)?
        try ignoringUnreadable(row) {
            object = try transaction.object(forKey: row.key, inCollection: row.collection)
        }
        guard let object,
            let replacement = try writer.relationship.whenEdgeDeleted(
                YapDatabaseEdgeDeletion(
                    edge: pending.edge, reason: pending.reason, row: row, object: object))
        else { return }
        try transaction.replaceObject(
            replacement, forKey: row.key, inCollection: row.collection)
    }

    /// An unreadable object doesn't prevent the deletion of another row.
    private func ignoringUnreadable(_ row: YapCollectionKey, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as YapDatabaseError where [.decoding, .missingRegistration].contains(error.code) {
            try writer.noteProblem(at: row, error)
        }
    }
}
