import SQLite

/// A view of search results in one transaction.
public final class YapDatabaseSearchResultsViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    /// A query of the search.
    public typealias Query = YapDatabaseTextQuery<Object>

    private let placement: ViewSearch<Object, Group>
    private let search: YapDatabaseFullTextSearchTransaction<Object>?
    private let queryTable: String
    /// The query of this transaction once it is known.
    private var known: Query??
    /// Written rows for which the query has not run yet.
    private var pending: [Int64: PendingRow] = [:]

    private struct PendingRow {
        let row: YapDatabaseRowIdentity
        let isNew: Bool
        var flags: YapDatabaseViewRowChange.Flags?
    }

    init(
        _ placement: ViewSearch<Object, Group>, _ connection: YapDatabaseViewConnection<Object, Group>,
        _ transaction: YapDatabaseReadTransaction, _ tables: YapDatabaseExtensionTables
    ) {
        self.placement = placement
        // A dependency is registered before, so its part exists already.
        search =
            transaction.usesSoFar.first { $0.entry.registered.name == placement.search.name }?.transaction
            as? YapDatabaseFullTextSearchTransaction<Object>
        queryTable = Connection.quoted(connection.sql.queryTable)
        super.init(connection, transaction, tables)
    }

    // MARK: Searching

    /// Replaces the rows with the rows of the parent view that a query finds. Rows found by both stay.
    ///
    /// ```swift
    /// try await connection.readWrite { try $0[found].search(.prefix(typed)) }
    /// ```
    ///
    /// The cost grows with the number of rows that are found and that leave, not with the rows of the parent. The
    /// view stores the query, and each later transaction that writes rows runs it for them, usually once for all of
    /// them. For a `.prefix` without an index of its length, that reads all rows with the prefix: see `prefix` of
    /// `YapDatabaseFullTextSearch.init`.
    ///
    /// - Parameter query: The query. Nil empties the view.
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction` in a read transaction; `invalidExtension` for a query that
    ///   is too long or names a missing column, and `sqlite` for a mistake in an `.expression`: the view is then
    ///   unchanged, and the transaction may continue. Any other error fails the whole transaction.
    public func search(_ query: Query?) throws { try search(query) {} }

    /// The same. `check` is called first and between steps of up to 500 rows. If it throws, the search ends, and the
    /// whole transaction must fail.
    func search(_ query: Query?, _ check: () throws -> Void) throws {
        try transaction.check()
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseError(.readOnlyTransaction, "a view can't search in a transaction that reads")
        }
        try check()
        try placePending()
        let part = try searchPart()
        let stored = try query.map { try StoredTextQuery($0, part) }
        let found = try query.map { try part.rowIDs($0, check) } ?? []
        try writing.toldOf {
            try store(stored)
            try show(found, check)
        }
    }

    /// The query that found the rows, or nil. Columns in it are identified by their names.
    public var query: Query? {
        get throws {
            try transaction.check()
            tables.noteRead { ($0 as? ViewChanges<Group>)?.isQueryReplaced ?? true }
            return try currentQuery()
        }
    }

    /// Returns an excerpt of a row with the matches of the query.
    ///
    /// It runs a query for this row only. Use it for rows that are shown.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - snippet: The text to excerpt. Default: a part of the column that has the most words of the query.
    /// - Returns: Nil if the row isn't in the view.
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

    /// Returns a closure that restores the query and the state of any view.
    override public func makeRestorePoint() throws -> () -> Void {
        try placePending()
        let (restore, known) = (try super.makeRestorePoint(), known)
        return {
            restore()
            self.known = known
            self.pending = [:]
        }
    }

    // MARK: The stored query

    private enum StoredQuery {
        case none
        case query(Query)
        case damaged
    }

    /// Returns the query, without recording the read.
    ///
    /// - Throws: `YapDatabaseError`: `corrupt` if it can't be read.
    func currentQuery() throws -> Query? {
        switch try storedQuery() {
        case .none: return nil
        case .query(let query): return query
        case .damaged:
            throw YapDatabaseError(
                .corrupt, "the query of the view \"\(view.name)\" can't be read: call search(_:) again")
        }
    }

    /// Returns true if the view has no query, or one that can be run.
    func hasReadableQuery() throws -> Bool {
        if case .damaged = try storedQuery() { return false }
        return true
    }

    private func storedQuery() throws -> StoredQuery {
        if let known { return known.map { .query($0) } ?? .none }
        let bytes = try tables.withStatement("SELECT query FROM \(queryTable)") { statement in
            try statement.step() ? statement.bytes(at: 0) : nil
        }
        guard let bytes else {
            known = .some(nil)
            return .none
        }
        let stored = try? bytes.withUnsafeBytes { try CBORDecoder().decode(StoredTextQuery.self, from: $0) }
        guard let query = stored?.query(of: Object.self), try searchPart().accepts(query) else {
            return .damaged
        }
        known = .some(query)
        return .query(query)
    }

    /// Returns the search in the same transaction.
    func searchPart() throws -> YapDatabaseFullTextSearchTransaction<Object> {
        if let search { return search }
        throw YapDatabaseError(
            .invalidExtension,
            "the extension \"\(placement.search.name)\" isn't the full-text search of \"\(view.name)\"")
    }

    /// Creates the tables without a query, so that no change is missed.
    func createTables() throws {
        let use = transaction.usesSoFar.first { $0.transaction === self }
        if let name = use?.entry.registered.name {
            try StoredExtension(name, transaction.store).setMissed(.none)
        }
        try table.create()
        try tables.execute(
            """
            DROP TABLE IF EXISTS \(queryTable);
            CREATE TABLE \(queryTable) (id INTEGER PRIMARY KEY CHECK (id = 1), query BLOB NOT NULL)
            """)
        known = .some(nil)
    }

    /// Fills the view again with the results of its query.
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
            // A row of the view is at the parent's place, because each change of the parent is followed.
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

    // MARK: Pending rows

    /// Maximum rows for which the query runs one by one.
    private static var singleRowsMax: Int { 4 }
    /// Maximum pending rows.
    private static var pendingRowsMax: Int { 10_000 }

    /// Records only the row's name, because its object is stored before the query runs.
    override func place(_ row: ViewRow<Object>, isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?) throws
    {
        try note(row.identity, isNew: isNew, flags)
    }

    /// Records a row. The query runs for all such rows together, when something is read or the transaction ends.
    func note(_ row: YapDatabaseRowIdentity, isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?) throws {
        var noted = pending[row.rowID] ?? PendingRow(row: row, isNew: isNew, flags: flags)
        if let flags { noted.flags = (noted.flags ?? []).union(flags) }
        pending[row.rowID] = noted
        if pending.count >= Self.pendingRowsMax { try placePending() }
    }

    override func touch(_ row: YapDatabaseRowIdentity, _ flags: YapDatabaseViewRowChange.Flags) throws {
        if pending[row.rowID] != nil { return try note(row, isNew: false, flags) }
        try super.touch(row, flags)
    }

    /// The query needs no object.
    override func followParent(_ row: YapDatabaseRowIdentity, _ flags: YapDatabaseViewRowChange.Flags) throws
    {
        try note(row, isNew: false, flags)
    }

    override func isPending(_ rowID: Int64) -> Bool { pending[rowID] != nil || super.isPending(rowID) }

    override func removePending(_ rowIDs: [Int64]?) {
        guard let rowIDs else { return pending = [:] }
        for rowID in rowIDs { pending[rowID] = nil }
    }

    override func placePending() throws {
        try super.placePending()
        guard !pending.isEmpty else { return }
        let rows = pending.values.sorted { $0.row.rowID < $1.row.rowID }
        pending = [:]
        let place = { [self] in
            let found = try found(among: rows.map(\.row.rowID))
            let hasFollowers = hasFollowers
            for pending in rows {
                let rowID = pending.row.rowID
                let place = found.contains(rowID) ? try placement.parent.place(rowID, in: self) : nil
                try table.place(rowID, at: place, isNew: pending.isNew, pending.flags)
                if hasFollowers { try placeInFollowers(pending.row, pending.flags ?? []) }
            }
        }
        // If it fails, the transaction must fail, even if the app catches the error.
        try (transaction as? YapDatabaseReadWriteTransaction)?.toldOf(place)
    }

    /// Returns the rows among these that the query finds. The search is a dependency, so it has the rows' new texts.
    private func found(among rowIDs: [Int64]) throws -> Set<Int64> {
        let query: Query
        switch try storedQuery() {
        case .none: return []
        case .damaged:
            try removeDamagedQuery()
            return []
        case .query(let stored): query = stored
        }
        let part = try searchPart()
        do {
            if rowIDs.count > Self.singleRowsMax { return try part.rowIDs(query, among: rowIDs) }
            return Set(try rowIDs.filter { try part.contains(query, $0) })
        } catch let error as YapDatabaseError where query.isMistaken(error) {
            // It ran before it was stored, so it is damaged.
            try removeDamagedQuery()
            return []
        }
    }

    /// Empties the view and removes its query. A write must not fail because the query is damaged.
    private func removeDamagedQuery() throws {
        try store(nil)
        try show([]) {}
    }
}
