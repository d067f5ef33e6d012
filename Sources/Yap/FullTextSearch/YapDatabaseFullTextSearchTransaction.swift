import SQLite

/// A full-text search in one transaction.
///
/// Each call throws `YapDatabaseError`: `transactionEnded`, `invalidExtension` for a query that is too long or names a
/// column that doesn't exist, `sqlite` for a mistake in an `.expression`, `decoding`, or an error of the file.
public final class YapDatabaseFullTextSearchTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// A query of the search.
    public typealias Query = YapDatabaseTextQuery<Object>
    /// A row that was found.
    public typealias Match = YapDatabaseTextMatch<Object>
    /// A requested excerpt.
    public typealias Snippet = YapDatabaseTextSnippet<Object>

    let connection: YapDatabaseFullTextSearchConnection<Object>
    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    /// True if this transaction has changed a text.
    var hasChanged = false
    /// Number of queries run for written rows.
    var runsCount = 0
    var search: YapDatabaseFullTextSearch<Object> { connection.search }
    var sql: FullTextSQL { connection.sql }

    init(
        _ connection: YapDatabaseFullTextSearchConnection<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
    }

    /// Returns the rows that a query finds, with their scores.
    ///
    /// ```swift
    /// let hits = try transaction[text].matches(.prefix(typed), snippet: .of(\.notes, words: 12), limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - snippet: An excerpt of each row. Default: none.
    ///   - order: The order of the rows.
    ///   - limit: Maximum number of rows. Default: all, which are then all in memory.
    ///   - offset: Number of rows to skip.
    public func matches(
        _ query: Query, snippet: Snippet? = nil, order: YapDatabaseTextOrder = .bestFirst,
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Match] {
        try matches(query, snippets: snippet.map { [$0] } ?? [], order: order, limit: limit, offset: offset)
    }

    /// Returns the rows that a query finds, with several excerpts of each. For the other parameters see the first
    /// form.
    public func matches(
        _ query: Query, snippets: [Snippet], order: YapDatabaseTextOrder = .bestFirst,
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Match] {
        try visitMatches(query, snippets, order, limit, offset) { match, _ in match }
    }

    /// - Parameters:
    ///   - more: SQL of one more value of each row, column 4 of the statement.
    ///   - read: Creates a result from a match and the statement.
    func visitMatches<Result>(
        _ query: Query, _ snippets: [Snippet], _ order: YapDatabaseTextOrder, _ limit: Int?, _ offset: Int,
        more: String = "NULL", _ read: (Match, borrowing Statement) throws -> Result
    ) throws -> [Result] {
        let condition = try TextQueryCondition(query, search, sql)
        let excerpts = try TextExcerptReader(query, snippets, condition, self)
        try transaction.begin(search.collection)
        let rank = condition.isRanked ? "i.rank" : "0"
        let wanted = "d.rowid, d.key, d.data, \(rank), \(more)\(excerpts.columns)"
        return try visit(wanted, condition, order, limit, offset) { statement in
            let key = statement.text(at: 1)
            let object = try transaction.object(
                Object.self, key, inCollection: search.collection, rowID: statement.int64(at: 0),
                isKept: limit != nil
            ) { decode in try statement.withBytes(at: 2, decode) }
            let match = Match(
                key: key, object: object, score: 0 - statement.double(at: 3),
                snippets: try excerpts.read(statement, from: 5))
            return try read(match, statement)
        }
    }

    /// Returns the keys of the rows that a query finds, without decoding objects. Parameters: see
    /// `matches(_:snippet:)`.
    public func keys(
        _ query: Query, order: YapDatabaseTextOrder = .bestFirst, limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        let condition = try TextQueryCondition(query, search, sql)
        return try visit("d.key", condition, order, limit, offset) { $0.text(at: 0) }
    }

    /// Returns the number of rows that a query finds.
    public func count(_ query: Query) throws -> Int {
        let condition = try TextQueryCondition(query, search, sql)
        noteRead()
        return try tables.withStatement(
            "SELECT count(*)\(sql.from)\(condition.text)", condition.values, isKept: condition.isRanked
        ) { try $0.step() ? Int($0.int64(at: 0)) : 0 }
    }

    func visit<Result>(
        _ wanted: String, _ condition: TextQueryCondition<Object>, _ order: YapDatabaseTextOrder,
        _ limit: Int?, _ offset: Int, _ read: (borrowing Statement) throws -> Result
    ) throws -> [Result] {
        noteRead()
        var condition = condition
        var text = "SELECT \(wanted)\(sql.fromWithRows)\(condition.text)"
        if condition.isRanked { text += sql.weighted }
        switch order {
        case .bestFirst: text += condition.isRanked ? " ORDER BY i.rank" : " ORDER BY i.rowid"
        case .oldestFirst: text += " ORDER BY i.rowid"
        case .newestFirst: text += " ORDER BY i.rowid DESC"
        }
        if limit != nil || offset > 0 {
            // A negative limit means no limit to SQLite.
            text += " LIMIT \(condition.parameter(.integer(Int64(limit.map { max(0, $0) } ?? -1))))"
            text += " OFFSET \(condition.parameter(.integer(Int64(max(0, offset)))))"
        }
        return try tables.withStatement(text, condition.values, isKept: condition.isRanked) { statement in
            var results: [Result] = []
            while try statement.step() { results.append(try read(statement)) }
            return results
        }
    }

    private func noteRead() { tables.noteRead { $0 is FullTextChanges } }
}
