import SQLite

/// Queries for views of search results, which record their reads themselves.
extension YapDatabaseFullTextSearchTransaction {
    /// Maximum rows between two calls of the `check` of `rowIDs`.
    static var rowsPerCheck: Int { 500 }

    /// Returns the rowids of the rows that a query finds, in ascending order.
    ///
    /// - Parameter check: Called every `rowsPerCheck` rows that are found, or that are read without an index. It
    ///   throws to end the search.
    func rowIDs(_ query: Query, _ check: () throws -> Void) throws -> [Int64] {
        let condition = try TextQueryCondition(query, search, sql)
        // Without an index, each row is a row of the statement, so that `check` is also called while none is found.
        let text =
            condition.isRanked
            ? "SELECT i.rowid, 1\(sql.from)\(condition.text)"
            : "SELECT i.rowid, \(condition.expressionText)\(sql.from)"
        return try tables.withStatement(
            "\(text) ORDER BY i.rowid", condition.values, isKept: condition.isRanked
        ) { statement in
            var rowIDs: [Int64] = []
            var count = 0
            while try statement.step() {
                if statement.int64(at: 1) != 0 { rowIDs.append(statement.int64(at: 0)) }
                count += 1
                if count % Self.rowsPerCheck == 0 { try check() }
            }
            return rowIDs
        }
    }

    /// Returns the rows among these that a query finds, by one run of the query.
    ///
    /// - Parameter wanted: Rowids in ascending order.
    func rowIDs(_ query: Query, among wanted: [Int64]) throws -> Set<Int64> {
        guard let first = wanted.first, let last = wanted.last else { return [] }
        var condition = try TextQueryCondition(query, search, sql)
        let range = (condition.parameter(.integer(first)), condition.parameter(.integer(last)))
        let text =
            "SELECT i.rowid\(sql.from)\(condition.text) AND i.rowid BETWEEN \(range.0) AND \(range.1)"
        let rowIDs = Set(wanted)
        runsCount += 1
        return try tables.withStatement(text, condition.values, isKept: condition.isRanked) { statement in
            var found: Set<Int64> = []
            while try statement.step() {
                let rowID = statement.int64(at: 0)
                if rowIDs.contains(rowID) { found.insert(rowID) }
            }
            return found
        }
    }

    /// Returns true if the search can run a query, considering its columns, length and depth.
    func accepts(_ query: Query) -> Bool { (try? TextQueryCondition(query, search, sql)) != nil }

    /// Returns true if a query finds a row.
    func contains(_ query: Query, _ rowID: Int64) throws -> Bool {
        runsCount += 1
        return try withRow(rowID, query, wanted: "1") { try $0.step() }
    }

    /// Returns an excerpt of a row, or nil if the query doesn't find it.
    func excerpt(_ snippet: Snippet, of rowID: Int64, _ query: Query) throws -> YapDatabaseTextExcerpt? {
        let excerpts = try TextExcerptReader(
            query, [snippet], TextQueryCondition(query, search, sql), self)
        return try withRow(rowID, query, wanted: "i.rowid\(excerpts.columns)") { statement in
            try statement.step() ? try excerpts.read(statement, from: 1).first : nil
        }
    }

    private func withRow<Result>(
        _ rowID: Int64, _ query: Query, wanted: String, _ read: (borrowing Statement) throws -> Result
    ) throws -> Result {
        var condition = try TextQueryCondition(query, search, sql)
        let text =
            "SELECT \(wanted)\(sql.from)\(condition.text) AND i.rowid = \(condition.parameter(.integer(rowID)))"
        return try tables.withStatement(text, condition.values, isKept: condition.isRanked, read)
    }
}
