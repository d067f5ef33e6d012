import SQLite

/// A relationship in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, or an error of the
/// file.
///
/// Results include edges that this transaction added, also those with missing ends.
public class YapDatabaseRelationshipTransaction {
    final let connection: YapDatabaseRelationshipConnection
    /// Retained until the transaction ends, which releases its extensions.
    final let transaction: YapDatabaseReadTransaction
    final let tables: YapDatabaseExtensionTables
    final let writer: RelationshipWriter?
    final var relationship: YapDatabaseRelationship { connection.relationship }
    final var sql: RelationshipSQL { connection.sql }

    init(
        _ connection: YapDatabaseRelationshipConnection, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
        writer = (transaction as? YapDatabaseReadWriteTransaction).map {
            RelationshipWriter(connection, $0, tables)
        }
    }

    // MARK: Finding

    /// Returns the edges that match all given parts, in the order in which they were added.
    ///
    /// ```swift
    /// let edges = try transaction[owns].edges(named: "author", to: .row("hugo", in: "authors"))
    /// ```
    ///
    /// - Parameters:
    ///   - name: Name of the edges. Default: any.
    ///   - source: The row at which they begin. Default: any.
    ///   - destination: The row or file at which they end. Default: any.
    ///   - limit: Maximum number of edges. Default: all.
    public final func edges(
        named name: String? = nil, from source: YapCollectionKey? = nil,
        to destination: YapDatabaseEdgeDestination? = nil, limit: Int? = nil
    ) throws -> [YapDatabaseEdge] {
        try find(RelationshipSQL.columns, name, source, destination, limit) { YapDatabaseEdge($0) }
    }

    /// Returns the number of edges that match all given parts. Parameters: see `edges(named:from:to:limit:)`.
    public final func count(
        named name: String? = nil, from source: YapCollectionKey? = nil,
        to destination: YapDatabaseEdgeDestination? = nil
    ) throws -> Int {
        let filter = try filter(name, source, destination)
        let (text, values) = sql.find("count(*)", filter)
        return try tables.withStatement(text, values) { try $0.step() ? Int($0.int64(at: 0)) : 0 }
    }

    /// Returns the rows from which edges lead to a row or file, each once.
    ///
    /// - Parameters:
    ///   - name: Name of the edges. Default: any.
    ///   - destination: The row or file.
    public final func sources(named name: String? = nil, of destination: YapDatabaseEdgeDestination) throws
        -> [YapCollectionKey]
    {
        try find("DISTINCT source_collection, source_key", name, nil, destination) { statement in
            YapCollectionKey(collection: statement.text(at: 0), key: statement.text(at: 1))
        }
    }

    /// Returns the rows and files to which edges lead from a row, each once.
    ///
    /// - Parameters:
    ///   - name: Name of the edges. Default: any.
    ///   - source: The row.
    public final func destinations(named name: String? = nil, of source: YapCollectionKey) throws
        -> [YapDatabaseEdgeDestination]
    {
        let columns = "DISTINCT destination_collection, destination_key, is_file"
        return try find(columns, name, source, nil) { statement in
            let key = statement.text(at: 1)
            return statement.int64(at: 2) != 0 ? .file(key) : .row(key, in: statement.text(at: 0))
        }
    }

    // MARK: Inside

    /// Records that the transaction's result depends on the edges that the filter finds.
    private func filter(
        _ name: String?, _ source: YapCollectionKey?, _ destination: YapDatabaseEdgeDestination?
    ) throws -> RelationshipFilter {
        try transaction.check()
        let filter = RelationshipFilter(name: name, source: source, destination: destination)
        tables.noteRead { changes in (changes as? RelationshipChanges).map(filter.finds) ?? true }
        return filter
    }

    /// Returns the order in which edges were added. If an end is given, SQLite must not take the order from the
    /// index over names, which it would scan completely.
    final func order(_ filter: RelationshipFilter) -> String {
        filter.source == nil && filter.destination == nil ? " ORDER BY id" : " ORDER BY +id"
    }

    private func find<Result>(
        _ what: String, _ name: String?, _ source: YapCollectionKey?,
        _ destination: YapDatabaseEdgeDestination?, _ limit: Int? = nil,
        _ read: (borrowing Statement) throws -> Result
    ) throws -> [Result] {
        let filter = try filter(name, source, destination)
        // The rows of a DISTINCT have no order.
        var (text, values) = sql.find(what, filter, order: what.hasPrefix("DISTINCT") ? "" : order(filter))
        if let limit {
            values.append(.integer(Int64(max(0, limit))))
            text += " LIMIT ?\(values.count)"
        }
        return try tables.withStatement(text, values) { statement in
            var results: [Result] = []
            while try statement.step() { results.append(try read(statement)) }
            return results
        }
    }

    /// Returns files to delete, in the order of their numbers after `id`.
    final func files(after id: Int64, max: Int) throws -> [(id: Int64, file: String)] {
        try tables.withStatement(sql.filesAfter, [.integer(id), .integer(Int64(max))]) { statement in
            var files: [(id: Int64, file: String)] = []
            while try statement.step() { files.append((statement.int64(at: 0), statement.text(at: 1))) }
            return files
        }
    }
}

/// Updates a relationship for changes of rows. Only a write transaction has a writer, and only there this is called.
extension YapDatabaseRelationshipTransaction: YapDatabaseExtensionTransaction {
    /// Creates the tables, or keeps them if they have all edges.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try relationship.check(in: transaction)
        return try writer?.register(previous: previous) ?? .isUnchanged
    }

    /// Adds the edges of existing rows.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws { try writer?.fill(rows) }

    /// Replaces the edges of a stored object, and removes those of deleted rows.
    public func didChange(_ change: YapDatabaseRowChange) throws { try writer?.didChange(change) }

    /// Applies the rules to the deletions of the transaction.
    public func flushPendingChangesToMainDatabaseTable() throws { try writer?.flush() }

    /// Returns the changed edges.
    public func changesForConnections() -> (any Sendable)? { writer?.changesSoFar }

    /// Returns a closure that restores the recorded changes.
    public func makeRestorePoint() throws -> () -> Void { writer?.makeRestorePoint() ?? {} }

    /// Starts the deletion of files that the transaction noted.
    public func didCommit(snapshot: UInt64) {
        if writer?.hasNotedFiles == true { relationship.files.schedule() }
    }
}
