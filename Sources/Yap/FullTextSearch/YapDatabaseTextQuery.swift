/// A query of a full-text search. Texts are literal: no character in them is syntax, so they may be user input.
///
/// ```swift
/// let queries: [YapDatabaseTextQuery<Todo>] = [
///     .prefix(typed),
///     .words("milk") && .anyWord("bread rolls").in(\.title),
///     .phrase("whole milk").excluding(.words("lactose")),
/// ]
/// ```
///
/// A text without a letter or digit finds nothing. A query has up to `wordsMax` words, texts of up to `bytesMax`
/// bytes, and up to `depthMax` nested queries.
public struct YapDatabaseTextQuery<Object: Sendable>: Sendable {
    /// Maximum words in a query. A query with more throws `invalidExtension`.
    public static var wordsMax: Int { 500 }
    /// Maximum total length of a query's texts, in bytes of UTF-8. A longer query throws `invalidExtension`.
    public static var bytesMax: Int { 100_000 }
    /// Maximum depth of nested queries. A deeper query throws `invalidExtension` when it is used. Chains of `&&`, of
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
        /// Replaces a query that is nested too deep, so that no recursion over nodes goes deeper.
        case tooDeep
    }

    let node: Node
    /// Depth of nested queries.
    let depth: Int

    init(_ node: Node, depth: Int = 1) {
        self.node = depth > Self.depthMax ? .tooDeep : node
        self.depth = depth
    }

    /// Texts to find, in order, to show the user's input again. Without excluded texts and expressions.
    public var texts: [String] { node.texts.map(\.text) }

    /// Finds rows that have all words of a text, in any order and in any columns.
    public static func words(_ text: String) -> Self { Self(.text(text, .all)) }

    /// Finds rows as `words` does. The last word may be the beginning of a word, for searching while the user types.
    public static func prefix(_ text: String) -> Self { Self(.text(text, .allWithPrefix)) }

    /// Finds rows that have at least one of the words of a text.
    public static func anyWord(_ text: String) -> Self { Self(.text(text, .any)) }

    /// Finds rows that have the words of a text in sequence, in one column.
    public static func phrase(_ text: String) -> Self { Self(.text(text, .phrase)) }

    /// Returns a query in FTS5's own syntax, for example `milk NOT (bread OR title: rolls)`.
    ///
    /// See https://www.sqlite.org/fts5.html#full_text_query_syntax. Not for user input: a query with a mistake throws
    /// `sqlite` with SQLite's message.
    public static func expression(_ syntax: String) -> Self { Self(.expression(syntax)) }

    /// Finds rows that match both queries.
    public static func && (left: Self, right: Self) -> Self {
        // Long chains stay flat: FTS5 limits the depth of a query.
        if case .and(let nodes) = left.node {
            return Self(.and(nodes + [right.node]), depth: max(left.depth, right.depth + 1))
        }
        return Self(.and([left.node, right.node]), depth: max(left.depth, right.depth) + 1)
    }

    /// Finds rows that match at least one of the queries.
    public static func || (left: Self, right: Self) -> Self {
        if case .or(let nodes) = left.node {
            return Self(.or(nodes + [right.node]), depth: max(left.depth, right.depth + 1))
        }
        return Self(.or([left.node, right.node]), depth: max(left.depth, right.depth) + 1)
    }

    /// Finds rows that match this query and not the other one.
    public func excluding(_ other: Self) -> Self {
        if case .excluding(let node, .or(let excluded)) = node {
            return Self(.excluding(node, .or(excluded + [other.node])), depth: max(depth, other.depth + 2))
        }
        return Self(.excluding(node, .or([other.node])), depth: max(depth + 1, other.depth + 2))
    }

    /// Limits the query to the column of a property. The search throws `invalidExtension` if it has no such column.
    public func `in`(_ path: any PartialKeyPath<Object> & Sendable) -> Self {
        Self(.column(node, .path(path)), depth: depth + 1)
    }

    /// Limits the query to a column by its name. Errors: see the other form.
    public func `in`(column name: String) -> Self {
        Self(.column(node, .name(name)), depth: depth + 1)
    }
}
