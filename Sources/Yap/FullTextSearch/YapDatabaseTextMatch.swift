/// A row that a full-text search found.
public struct YapDatabaseTextMatch<Object: Sendable>: Sendable {
    /// Key of the row.
    public let key: String
    /// Object of the row.
    public let object: Object
    /// Score of the match (BM25 with the columns' weights): greater is better. Comparable within one query only. 0
    /// for a query that reads the texts of all rows: see `YapDatabaseTextTokenizer.trigram`.
    public let score: Double
    /// Requested excerpts, in the same order.
    public let snippets: [YapDatabaseTextExcerpt]

    /// The first excerpt, or nil if none was requested.
    public var snippet: YapDatabaseTextExcerpt? { snippets.first }
}

/// The order of a search's results.
public enum YapDatabaseTextOrder: Sendable {
    /// Greatest score first. The order of rows with equal scores is unspecified.
    case bestFirst
    /// Oldest row first, by rowid. The rowid of a removed row may be reused.
    case oldestFirst
    /// The reverse of `oldestFirst`.
    case newestFirst
}
