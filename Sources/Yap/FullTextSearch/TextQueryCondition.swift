/// The SQL condition of a query, with the values of its parameters.
struct TextQueryCondition<Object: Sendable> {
    private typealias Query = YapDatabaseTextQuery<Object>

    /// The condition as an expression, for the result columns of a query that reads the texts of all rows.
    private(set) var expressionText = ""
    /// Begins with ` WHERE`.
    var text: String { " WHERE \(expressionText)" }
    private(set) var values: [YapDatabaseColumnValue] = []
    /// True if FTS5 finds the rows by its index and ranks them.
    let isRanked: Bool
    private let expression: TextQueryExpression<Object>

    /// - Throws: `YapDatabaseError`: `invalidExtension` for a query that is too long or names another column.
    init(
        _ query: YapDatabaseTextQuery<Object>, _ search: YapDatabaseFullTextSearch<Object>,
        _ sql: FullTextSQL
    ) throws {
        try query.node.checkLength()
        expression = TextQueryExpression(search: search, sql: sql)
        isRanked = !(search.tokenizer == .trigram && query.node.hasShortText)
        if isRanked {
            expressionText = "\(sql.table) MATCH \(parameter(try expression.text(query.node)))"
        } else {
            expressionText = try condition(query.node, in: Array(sql.columns.indices))
        }
    }

    /// Adds a value, and returns its parameter.
    mutating func parameter(_ value: String) -> String { parameter(.text(value)) }

    /// Adds a value, and returns its parameter.
    mutating func parameter(_ value: YapDatabaseColumnValue) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// Returns the condition that reads the texts of each row.
    private mutating func condition(_ node: Query.Node, in columns: [Int]) throws -> String {
        switch node {
        case .text(let text, let form):
            let parts = form.parts(of: text).map { contains($0, in: columns) }
            return parts.isEmpty ? "0" : "(\(parts.joined(separator: form == .any ? " OR " : " AND ")))"
        case .expression:
            let filter = columns.map { expression.sql.filters[$0] }.joined(separator: " ")
            let syntax = "{\(filter)} : (\(try expression.text(node)))"
            return columns.isEmpty ? "0" : expression.sql.isFound(by: parameter(syntax))
        case .and(let nodes): return "(\(try conditions(nodes, in: columns).joined(separator: " AND ")))"
        case .or(let nodes): return "(\(try conditions(nodes, in: columns).joined(separator: " OR ")))"
        case .excluding(let node, let other):
            return "(\(try condition(node, in: columns)) AND NOT \(try condition(other, in: columns)))"
        case .column(let node, let column):
            let place = try expression.place(column)
            return try condition(node, in: columns.filter { $0 == place })
        case .tooDeep: throw node.tooDeepError
        }
    }

    private mutating func conditions(_ nodes: [Query.Node], in columns: [Int]) throws -> [String] {
        var conditions: [String] = []
        for node in nodes { conditions.append(try condition(node, in: columns)) }
        return conditions
    }

    private mutating func contains(_ part: String, in columns: [Int]) -> String {
        let part = parameter(part)
        let found = columns.map {
            "ifnull(instr(lower(\(expression.sql.columns[$0])), lower(\(part))), 0) > 0"
        }
        return found.isEmpty ? "0" : "(\(found.joined(separator: " OR ")))"
    }
}
