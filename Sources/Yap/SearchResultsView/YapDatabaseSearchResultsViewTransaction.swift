import SQLite

/// A view of search results in one transaction. Reads as any view.
public final class YapDatabaseSearchResultsViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    /// What to look for.
    public typealias Query = YapDatabaseTextQuery<Object>

    private let placement: ViewSearch<Object, Group>
    private let search: YapDatabaseFullTextSearchTransaction<Object>?
    private let queryTable: String
    /// The query of this transaction once it is known.
    private var known: Query??

    init(
        _ placement: ViewSearch<Object, Group>, _ connection: YapDatabaseViewConnection<Object, Group>,
        _ transaction: YapDatabaseReadTransaction, _ tables: YapDatabaseExtensionTables
    ) {
        self.placement = placement
        // A dependency is registered before, so its part is made already.
        search =
            transaction.usesSoFar.first { $0.entry.registered.name == placement.search.name }?.transaction
            as? YapDatabaseFullTextSearchTransaction<Object>
        queryTable = Connection.quoted(connection.sql.queryTable)
        super.init(connection, transaction, tables)
    }

    // MARK: Searching

    /// Replaces the rows with those of the parent view that a query finds. Rows that were found before stay.
    ///
    /// The cost grows with the rows that are found and those that leave, not with the rows of the parent. The view
    /// keeps the query, and each later write of a row runs it for that row. For a `.prefix` without an index of its
    /// length, each write then reads all rows that have the prefix: see `prefix` of `YapDatabaseFullTextSearch.init`.
    ///
    /// - Parameter query: What to look for; nil empties the view.
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction` in a transaction that only reads; `invalidExtension` for a
    ///   query that is too long or names a column that doesn't exist, and `sqlite` for a mistake in an `.expression`:
    ///   the view is then as before, and the transaction may go on. Every other error fails the whole transaction.
    public func search(_ query: Query?) throws { try search(query) {} }

    /// The same, where `check` is called first and between steps of up to 500 rows. It throws to give up: the whole
    /// transaction must then fail.
    func search(_ query: Query?, _ check: () throws -> Void) throws {
        try transaction.check()
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseError(.readOnlyTransaction, "a view can't search in a transaction that reads")
        }
        try check()
        let part = try searchPart()
        let stored = try query.map { try StoredTextQuery($0, part) }
        let found = try query.map { try part.rowIDs($0, check) } ?? []
        try writing.toldOf {
            try store(stored)
            try show(found, check)
        }
    }

    /// The query that found the rows; nil for none. Columns in it are named by their names.
    public var query: Query? {
        get throws {
            try transaction.check()
            tables.noteRead { ($0 as? ViewChanges<Group>)?.isQueryReplaced ?? true }
            return try currentQuery()
        }
    }

    /// Returns an excerpt of a row with the places where the query matches.
    ///
    /// It is read from the search, by a query for this row alone: for rows that are shown.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - snippet: Which text. Default: a part of the column that has the most words of the query.
    /// - Returns: Nil if the view doesn't have the row.
    public func snippet(forKey key: String, _ snippet: YapDatabaseTextSnippet<Object> = .ofBestColumn())
        throws
        -> YapDatabaseTextExcerpt?
    {
        guard let rowID = try transaction.rowID(forKey: key, inCollection: view.collection) else {
            return nil
        }
        tables.noteRead { changes in
            guard let changes = changes as? ViewChanges<Group> else { return true }
            return changes.isQueryReplaced || changes.touches(rowID: rowID)
        }
        guard let query = try currentQuery(), try table.entry(rowID) != nil else { return nil }
        return try searchPart().excerpt(snippet, of: rowID, query)
    }

    /// Keeps the query, with what any view keeps.
    override public func makeRestorePoint() throws -> () -> Void {
        let (restore, known) = (try super.makeRestorePoint(), known)
        return {
            restore()
            self.known = known
        }
    }

    // MARK: For the placement

    /// The query, without a note of the read.
    func currentQuery() throws -> Query? {
        if let known { return known }
        let read = try tables.withStatement("SELECT query FROM \(queryTable)") { statement -> Query? in
            guard try statement.step() else { return nil }
            let stored = try? statement.withBytes(at: 0) {
                try CBORDecoder().decode(StoredTextQuery.self, from: $0)
            }
            if let query = stored?.query(of: Object.self) { return query }
            throw YapDatabaseError(.corrupt, "the query of the view \"\(view.name)\" can't be read")
        }
        known = .some(read)
        return read
    }

    /// The search in the same transaction.
    func searchPart() throws -> YapDatabaseFullTextSearchTransaction<Object> {
        if let search { return search }
        throw YapDatabaseError(
            .invalidExtension,
            "the extension \"\(placement.search.name)\" isn't the full-text search of \"\(view.name)\"")
    }

    /// Creates the tables anew, without a query.
    func createTables() throws {
        try table.create()
        try tables.execute(
            """
            DROP TABLE IF EXISTS \(queryTable);
            CREATE TABLE \(queryTable) (id INTEGER PRIMARY KEY CHECK (id = 1), query BLOB NOT NULL)
            """)
        known = .some(nil)
    }

    /// Fills the view anew with what its query finds.
    func searchAgain() throws {
        try table.create()
        if let query = try currentQuery() { try show(searchPart().rowIDs(query) {}) {} }
    }

    private func store(_ query: StoredTextQuery?) throws {
        if let query {
            let bytes = try CBOREncoder().encode(query)
            try tables.run("INSERT OR REPLACE INTO \(queryTable) VALUES (1, ?1)", [.blob(bytes)])
            known = .some(query.query(of: Object.self))
        } else {
            try tables.run("DELETE FROM \(queryTable)")
            known = .some(nil)
        }
        table.noteQuery()
    }

    private func show(_ found: [Int64], _ check: () throws -> Void) throws {
        let steps = YapDatabaseFullTextSearchTransaction<Object>.rowsPerCheck
        let hasFollowers = hasFollowers
        var old = Set(try table.rowIDs())
        if found.isEmpty, old.count > table.changedRowsMax, !hasFollowers { return try table.removeAll() }
        for (index, rowID) in found.enumerated() {
            if index % steps == 0 { try check() }
            // A row that is in the view is where the parent has it: each change of the parent is followed.
            if old.remove(rowID) != nil { continue }
            guard let place = try placement.parent.place(rowID, in: self) else { continue }
            try table.place(rowID, at: place, isNew: true, [])
            if hasFollowers { try placeInFollowers(rowID) }
        }
        for (index, rowID) in old.sorted().enumerated() {
            if index % steps == 0 { try check() }
            try table.place(rowID, at: nil, isNew: false, [])
            if hasFollowers { try placeInFollowers(rowID) }
        }
    }

    private func placeInFollowers(_ rowID: Int64) throws {
        guard let row = try transaction.identity(ofRowID: rowID) else { return }
        try placeInFollowers(row)
    }
}
