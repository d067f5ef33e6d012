/// A row that a full-text search found.
public struct YapDatabaseTextMatch<Object: Sendable>: Sendable {
    /// The row's key.
    public let key: String
    /// The row's object.
    public let object: Object
    /// How well the row matches the query (BM25 with the columns' weights): greater is better. Comparable within one
    /// query only. 0 for a query that reads the texts of all rows: see `YapDatabaseTextTokenizer.trigram`.
    public let score: Double
    /// The excerpts that were requested, in the same order.
    public let snippets: [YapDatabaseTextExcerpt]

    /// The first excerpt; nil if none was requested.
    public var snippet: YapDatabaseTextExcerpt? { snippets.first }
}

/// The order of a search's results.
public enum YapDatabaseTextOrder: Sendable {
    /// The greatest score first. Rows with equal scores have no promised order.
    case bestFirst
    /// The row that was inserted first is first, as far as rowids tell: that of a removed row may be used again.
    case oldestFirst
    /// The reverse of `oldestFirst`.
    case newestFirst
}
