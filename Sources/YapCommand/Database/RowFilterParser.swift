import Yap

/// Reads a condition of `yap db query`:
///
///     condition  = all { ("or" | "||") all }
///     all        = one { ("and" | "&&") one }
///     one        = ("not" | "!") one | "(" condition ")" | operand [comparison operand]
///                | operand ["not"] "in" "(" operand { "," operand } ")"
///     operand    = path | number | text | time | "true" | "false" | "null"
///     path       = ("$key" | "$metadata" | name) { "." name | "[" integer "]" }
struct RowFilterParser {
    /// Maximum characters of a condition.
    static let charactersMax = 16_384
    private static let depthMax = 64

    private static let words: [String: RowFilter.Comparison] = [
        "contains": .contains, "beginswith": .beginsWith, "endswith": .endsWith, "is": .equal,
    ]
    private static let signs: [String: RowFilter.Comparison] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual,
    ]
    /// Reserved words, which are property names only in backticks.
    private static let reserved: Set<String> = [
        "and", "or", "not", "in", "contains", "beginswith", "endswith", "is", "true", "false", "null", "nil",
    ]

    private let tokens: [RowFilterToken]
    private var position = 0

    private init(_ text: String) throws {
        guard text.count <= Self.charactersMax else {
            throw PlaceError(
                column: Self.charactersMax + 1, text: "a condition has up to \(Self.charactersMax) characters"
            )
        }
        tokens = try RowFilterToken.tokens(text)
    }

    /// Parses a condition.
    ///
    /// - Throws: `PlaceError`.
    static func condition(_ text: String) throws -> RowFilter {
        var parser = try RowFilterParser(text)
        let condition = try parser.any(0)
        guard parser.token.kind == .end else { throw parser.expected("and, or, or the end") }
        return condition
    }

    /// Parses a single path.
    ///
    /// - Throws: `PlaceError`.
    static func path(_ text: String) throws -> RowPath {
        var parser = try RowFilterParser(text)
        guard let path = try parser.acceptPath() else { throw parser.expected("a property") }
        guard parser.token.kind == .end else { throw parser.expected("the property's end") }
        return path
    }

    private mutating func any(_ depth: Int) throws -> RowFilter {
        guard depth < Self.depthMax else {
            throw PlaceError(column: token.column, text: "more than \(Self.depthMax) levels")
        }
        var parts = [try all(depth)]
        while accept("or", "||") { parts.append(try all(depth)) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func all(_ depth: Int) throws -> RowFilter {
        var parts = [try one(depth)]
        while accept("and", "&&") { parts.append(try one(depth)) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func one(_ depth: Int) throws -> RowFilter {
        var isNegated = false
        while accept("not", "!") { isNegated.toggle() }
        let condition = try positive(depth)
        return isNegated ? .not(condition) : condition
    }

    private mutating func positive(_ depth: Int) throws -> RowFilter {
        if accept("(") {
            let condition = try any(depth + 1)
            guard accept(")") else { throw expected("and, or, or a closing parenthesis") }
            return condition
        }
        let left = try operand()
        if let comparison = acceptComparison() {
            // "is not null" as in SQL.
            let isNegated = comparison == .equal && accept("not")
            let condition = RowFilter.compared(left, comparison, try operand())
            return isNegated ? .not(condition) : condition
        }
        let isNegated = accept("not")
        if accept("in") {
            guard accept("(") else { throw expected("the list of values in parentheses") }
            var others = [try operand()]
            while accept(",") { others.append(try operand()) }
            guard accept(")") else { throw expected("a comma or a closing parenthesis") }
            return isNegated ? .not(.isIn(left, others)) : .isIn(left, others)
        }
        guard !isNegated else { throw expected("in") }
        switch left {
        case .path(let path): return .isTrue(path)
        case .value(.bool(let value)): return value ? .all([]) : .any([])
        case .value: throw expected("a comparison, as == or >=")
        }
    }

    private mutating func operand() throws -> RowFilter.Operand {
        switch token.kind {
        case .value(let value):
            position += 1
            return .value(value)
        case .name(let name):
            let values: [String: StoredValue] = [
                "true": .bool(true), "false": .bool(false), "null": .null, "nil": .null,
            ]
            if let value = values[name.lowercased()] {
                position += 1
                return .value(value)
            }
        default: break
        }
        if let path = try acceptPath() { return .path(path) }
        throw expected("a property or a value")
    }

    private mutating func acceptPath() throws -> RowPath? {
        var (root, steps, text) = (RowPath.Root.object, [RowPath.Step](), "")
        switch token.kind {
        case .name("$key"): (root, text) = (.key, "$key")
        case .name("$metadata"): (root, text) = (.metadata, "$metadata")
        case .name(let name) where !Self.reserved.contains(name.lowercased()):
            (steps, text) = ([.name(name)], name)
        case .quotedName(let name): (steps, text) = ([.name(name)], "`\(name)`")
        default: return nil
        }
        position += 1
        while true {
            if accept(".") {
                switch token.kind {
                case .name(let name): (steps, text) = (steps + [.name(name)], "\(text).\(name)")
                case .quotedName(let name): (steps, text) = (steps + [.name(name)], "\(text).`\(name)`")
                default: throw expected("a property's name")
                }
                position += 1
            } else if accept("[") {
                guard case .value(.integer(let number)) = token.kind, let index = Int(exactly: number) else {
                    throw expected("the number of an element, from 0")
                }
                position += 1
                guard accept("]") else { throw expected("a closing bracket") }
                (steps, text) = (steps + [.index(index)], "\(text)[\(index)]")
            } else {
                return RowPath(root: root, steps: steps, text: text)
            }
        }
    }

    private mutating func acceptComparison() -> RowFilter.Comparison? {
        let found: RowFilter.Comparison? =
            switch token.kind {
            case .sign(let sign): Self.signs[sign]
            case .name(let name): Self.words[name.lowercased()]
            default: nil
            }
        if found != nil { position += 1 }
        return found
    }

    private mutating func accept(_ words: String...) -> Bool {
        let isFound =
            switch token.kind {
            case .sign(let sign): words.contains(sign)
            case .name(let name): words.contains(name.lowercased())
            default: false
            }
        if isFound { position += 1 }
        return isFound
    }

    // The last token is the end, which is never consumed.
    private var token: RowFilterToken { tokens[position] }

    private func expected(_ what: String) -> PlaceError {
        let found =
            switch token.kind {
            case .end: "the end"
            case .name(let text), .sign(let text): Shown.word(text)
            case .quotedName(let text): "`\(text)`"
            case .value(let value): JSON(value).text
            }
        return PlaceError(column: token.column, text: "\(what) is expected, not \(found)")
    }
}
