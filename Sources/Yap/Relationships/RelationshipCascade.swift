import SQLite

/// Applies the rules of deleted edges until nothing is left to do.
///
/// A row that is removed here adds the rules of its own edges to the table of pending ones, from which the loop takes
/// the next. So a cascade has no recursion, whatever its depth, and memory for one batch. A cycle ends because each
/// removed row takes its edges along.
struct RelationshipCascade {
    /// Rules that are applied at a time.
    static let batchMax = 500
    /// Maximum number of times that edges with missing ends are looked for in one flush. Objects of `whenEdgeDeleted`
    /// that have such edges again and again would go on without end.
    static let checksMax = 1_000

    private let writer: RelationshipWriter
    private var tables: YapDatabaseExtensionTables { writer.tables }
    private var sql: RelationshipSQL { writer.sql }

    init(_ writer: RelationshipWriter) { self.writer = writer }

    /// A deleted edge whose rules are still to fire.
    private struct Pending {
        let edge: YapDatabaseEdge
        let reason: YapDatabaseEdgeDeletionReason
        let id: Int64

        /// The end that wasn't deleted.
        var otherEnd: YapDatabaseEdgeDestination {
            reason == .sourceDeleted ? edge.destination : .row(edge.source)
        }

        /// Whether its rules notify the other end.
        var notifies: Bool {
            edge.rules.contains(
                reason == .sourceDeleted ? .notifyIfSourceDeleted : .notifyIfDestinationDeleted)
        }
    }

    func run() throws {
        var checksCount = 0
        while true {
            let (isUnchecked, isPending) = try work()
            if !isUnchecked, !isPending { return }
            if isUnchecked {
                checksCount += 1
                try checkEnds()
            }
            guard checksCount <= Self.checksMax else {
                throw YapDatabaseError(
                    .extensionsDoNotSettle,
                    "whenEdgeDeleted of \"\(writer.relationship.name)\" returns objects with edges to missing rows "
                        + "again and again"
                )
            }
            let batch = try next()
            guard let last = batch.last else { continue }
            try tables.run(sql.deletePending, [.integer(last.id)])
            try apply(batch)
        }
    }

    /// Whether edges may have a missing end, and whether rules are still to fire.
    private func work() throws -> (isUnchecked: Bool, isPending: Bool) {
        try tables.withStatement(sql.hasWork) { statement in
            guard try statement.step() else { return (false, false) }
            return (statement.int64(at: 0) != 0, statement.int64(at: 1) != 0)
        }
    }

    /// Drops edges that have a missing end.
    private func checkEnds() throws {
        for statement in sql.check { try tables.run(statement) }
        try writer.noteEdges(sql.uncheckedEdges)
        try tables.run(sql.deleteUnchecked)
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

    private func apply(_ batch: [Pending]) throws {
        var removed: [ExactString: Set<ExactString>] = [:]
        var notified: [(Pending, YapCollectionKey)] = []
        for pending in batch {
            let isDeletion = try deletesOtherEnd(pending)
            switch (pending.otherEnd, isDeletion) {
            case (.file(let file), true): try deleteFile(file)
            case (.file, false): break
            case (.row(let row), true):
                removed[ExactString(row.collection), default: []].insert(ExactString(row.key))
            case (.row(let row), false): if pending.notifies { notified.append((pending, row)) }
            }
        }
        for (collection, keys) in removed {
            try writer.transaction.removeObjects(
                forKeys: keys.lazy.map(\.string), inCollection: collection.string)
        }
        for (pending, row) in notified { try notify(pending, row) }
    }

    private func deletesOtherEnd(_ pending: Pending) throws -> Bool {
        let edge = pending.edge
        switch pending.reason {
        case .edgeDeleted: return false
        case .sourceDeleted:
            if edge.rules.contains(.deleteDestinationIfSourceDeleted) { return true }
            guard edge.rules.contains(.deleteDestinationIfAllSourcesDeleted) else { return false }
            return try !isAny(RelationshipFilter(name: edge.name, source: nil, destination: edge.destination))
        case .destinationDeleted:
            if edge.rules.contains(.deleteSourceIfDestinationDeleted) { return true }
            guard edge.rules.contains(.deleteSourceIfAllDestinationsDeleted) else { return false }
            return try !isAny(RelationshipFilter(name: edge.name, source: edge.source, destination: nil))
        }
    }

    private func isAny(_ filter: RelationshipFilter) throws -> Bool {
        let (text, values) = sql.find("1", filter, order: " LIMIT 1")
        return try tables.withStatement(text, values) { try $0.step() }
    }

    /// Unless another edge leads to it: the file of a row that was removed and made again is not lost.
    private func deleteFile(_ file: String) throws {
        if try !isAny(RelationshipFilter(name: nil, source: nil, destination: .file(file))) {
            try writer.noteFile(file)
        }
    }

    private func notify(_ pending: Pending, _ row: YapCollectionKey) throws {
        guard
            let object = try writer.transaction.object(forKey: row.key, inCollection: row.collection),
            let replacement = try writer.relationship.whenEdgeDeleted(
                YapDatabaseEdgeDeletion(
                    edge: pending.edge, reason: pending.reason, row: row, object: object))
        else { return }
        try writer.transaction.replaceObject(
            replacement, forKey: row.key, inCollection: row.collection)
    }
}
