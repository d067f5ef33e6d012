/// What a full-text search looks for. Texts in a query are texts: no character in them is syntax, so they may be what a
/// person typed.
///
/// ```swift
/// .prefix(typed)
/// .words("milk") && .anyWord("bread rolls").in(\.title)
/// .phrase("whole milk").excluding(.words("lactose"))
/// ```
///
/// A text without a letter or digit finds nothing. A query has up to `wordsMax` words, texts of up to `bytesMax` bytes,
/// and up to `depthMax` queries in each other.
public struct YapDatabaseTextQuery<Object: Sendable>: Sendable {
    /// Maximum number of words in a query. One with more throws `invalidExtension`.
    public static var wordsMax: Int { 500 }
    /// Maximum total length of a query's texts, in bytes of UTF-8. A longer one throws `invalidExtension`.
    public static var bytesMax: Int { 100_000 }
    /// Maximum depth of queries in queries. A deeper one throws `invalidExtension` when it is used. Chains of `&&`, of
    /// `||` and of `excluding(_:)` count once, however long they are.
    public static var depthMax: Int { 32 }

    /// How the words of a text are combined.
    enum Form: Sendable { case all, allWithPrefix, any, phrase }

    enum Column: Sendable {
        case path(any AnyKeyPath & Sendable)
        case name(String)
    }

    indirect enum Node: Sendable {
        case text(String, Form)
        case expression(String)
        case and([Node])
        case or([Node])
        case excluding(Node, Node)
        case column(Node, Column)
        /// In place of a query that is nested too deep, so that no recursion over nodes goes deeper.
        case tooDeep
    }

    let node: Node
    /// How many queries are in each other.
    let depth: Int

    init(_ node: Node, depth: Int = 1) {
        self.node = depth > Self.depthMax ? .tooDeep : node
        self.depth = depth
    }

    /// The texts that are looked for, in order: what a person typed, to show it again. Without those that are excluded,
    /// and without an `.expression`.
    public var texts: [String] { node.texts.map(\.text) }

    /// Rows that have all words of a text, in any order and in any columns.
    public static func words(_ text: String) -> Self { Self(.text(text, .all)) }

    /// As `words`, where the last word may be the beginning of a word: for each character that a person types.
    public static func prefix(_ text: String) -> Self { Self(.text(text, .allWithPrefix)) }

    /// Rows that have one of the words of a text, or several.
    public static func anyWord(_ text: String) -> Self { Self(.text(text, .any)) }

    /// Rows that have the words of a text one after the other, in one column.
    public static func phrase(_ text: String) -> Self { Self(.text(text, .phrase)) }

    /// A query in FTS5's own syntax, such as `milk NOT (bread OR title: rolls)`.
    ///
    /// See https://www.sqlite.org/fts5.html#full_text_query_syntax. Not for text that a person typed: a query with a
    /// mistake throws `sqlite` with SQLite's message.
    public static func expression(_ syntax: String) -> Self { Self(.expression(syntax)) }

    /// Rows that both queries find.
    public static func && (left: Self, right: Self) -> Self {
        // Long chains stay flat: FTS5 limits the depth of a query.
        if case .and(let nodes) = left.node {
            return Self(.and(nodes + [right.node]), depth: max(left.depth, right.depth + 1))
        }
        return Self(.and([left.node, right.node]), depth: max(left.depth, right.depth) + 1)
    }

    /// Rows that one of the queries finds, or both.
    public static func || (left: Self, right: Self) -> Self {
        if case .or(let nodes) = left.node {
            return Self(.or(nodes + [right.node]), depth: max(left.depth, right.depth + 1))
        }
        return Self(.or([left.node, right.node]), depth: max(left.depth, right.depth) + 1)
    }

    /// Rows that this query finds and the other one doesn't.
    public func excluding(_ other: Self) -> Self {
        if case .excluding(let node, .or(let excluded)) = node {
            return Self(.excluding(node, .or(excluded + [other.node])), depth: max(depth, other.depth + 2))
        }
        return Self(.excluding(node, .or([other.node])), depth: max(depth + 1, other.depth + 2))
    }

    /// The same query, limited to the column of a property. The search throws `invalidExtension` when it has no such
    /// column.
    public func `in`(_ path: any PartialKeyPath<Object> & Sendable) -> Self {
        Self(.column(node, .path(path)), depth: depth + 1)
    }

    /// The same query, limited to a column by its name. Errors as the other form.
    public func `in`(column name: String) -> Self {
        Self(.column(node, .name(name)), depth: depth + 1)
    }
}
