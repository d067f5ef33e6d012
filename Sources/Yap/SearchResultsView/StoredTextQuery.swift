/// A stored query: its parts in postfix order, so that reading it needs no recursion.
struct StoredTextQuery: Codable, Equatable {
    /// A text, or an operation on the queries before it.
    struct Part: Codable, Equatable {
        enum Kind: String, Codable {
            case words, prefix, anyWord, phrase, expression, and, or, excluding, column
        }

        let kind: Kind
        /// The text, or the name of a column.
        var text: String?
        /// Number of queries that `and` or `or` combines.
        var count: Int?
    }

    private(set) var parts: [Part] = []

    /// - Throws: `YapDatabaseError`: `invalidExtension` for a column that the search doesn't have, and for a query
    ///   that is too long or too deep.
    init<Object>(
        _ query: YapDatabaseTextQuery<Object>, _ search: YapDatabaseFullTextSearchTransaction<Object>
    )
        throws
    {
        try query.node.checkLength()
        let expression = TextQueryExpression(search: search.search, sql: search.sql)
        try add(query.node) { search.search.columns[try expression.place($0)].name }
    }

    /// Returns the query, or nil if the parts are invalid or too deep.
    func query<Object>(of type: Object.Type) -> YapDatabaseTextQuery<Object>? {
        var nodes: [Nested<Object>] = []
        for part in parts {
            var taken: [Nested<Object>] = []
            guard let node = Self.node(part, &nodes, &taken) else { return nil }
            let depth = (taken.map(\.depth).max() ?? 0) + 1
            guard depth <= YapDatabaseTextQuery<Object>.depthMax else { return nil }
            nodes.append((node, depth))
        }
        return nodes.count == 1 ? nodes.first.map { YapDatabaseTextQuery($0.node, depth: $0.depth) } : nil
    }

    private typealias Nested<Object: Sendable> = (node: YapDatabaseTextQuery<Object>.Node, depth: Int)

    private mutating func add<Object>(
        _ node: YapDatabaseTextQuery<Object>.Node,
        _ columnName: (YapDatabaseTextQuery<Object>.Column) throws -> String
    ) throws {
        switch node {
        case .text(let text, let form): parts.append(Part(kind: Self.kind(form), text: text))
        case .expression(let syntax): parts.append(Part(kind: .expression, text: syntax))
        case .and(let nodes):
            for node in nodes { try add(node, columnName) }
            parts.append(Part(kind: .and, count: nodes.count))
        case .or(let nodes):
            for node in nodes { try add(node, columnName) }
            parts.append(Part(kind: .or, count: nodes.count))
        case .excluding(let node, let other):
            try add(node, columnName)
            try add(other, columnName)
            parts.append(Part(kind: .excluding))
        case .column(let node, let column):
            try add(node, columnName)
            parts.append(Part(kind: .column, text: try columnName(column)))
        case .tooDeep: throw node.tooDeepError
        }
    }

    private static func kind<Object>(_ form: YapDatabaseTextQuery<Object>.Form) -> Part.Kind {
        switch form {
        case .all: .words
        case .allWithPrefix: .prefix
        case .any: .anyWord
        case .phrase: .phrase
        }
    }

    /// Moves the operands of a part from the end of `nodes` to `taken`, and returns the part's node.
    private static func node<Object>(
        _ part: Part, _ nodes: inout [Nested<Object>], _ taken: inout [Nested<Object>]
    ) -> YapDatabaseTextQuery<Object>.Node? {
        func take(_ count: Int?) -> [YapDatabaseTextQuery<Object>.Node]? {
            guard let count, count > 0, count <= nodes.count else { return nil }
            taken = Array(nodes.suffix(count))
            nodes.removeLast(count)
            return taken.map(\.node)
        }
        switch part.kind {
        case .words: return part.text.map { .text($0, .all) }
        case .prefix: return part.text.map { .text($0, .allWithPrefix) }
        case .anyWord: return part.text.map { .text($0, .any) }
        case .phrase: return part.text.map { .text($0, .phrase) }
        case .expression: return part.text.map { .expression($0) }
        case .and: return take(part.count).map { .and($0) }
        case .or: return take(part.count).map { .or($0) }
        case .excluding: return take(2).map { .excluding($0[0], $0[1]) }
        case .column:
            guard let name = part.text else { return nil }
            return take(1).map { .column($0[0], .name(name)) }
        }
    }
}
