import Foundation

/// Parses `NSPredicate`'s format strings, by Apple's "Predicate Format String Syntax". It also parses syntax
/// that CloudKit doesn't support, so that the error can name it.
struct PredicateParser {
    /// Maximum depth of nested parentheses, NOTs and functions.
    static let depthMax = 100
    private static let comparators: [String: PredicateComparison.Comparator] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
        "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual, "BETWEEN": .between,
        "CONTAINS": .contains, "IN": .isIn, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith, "LIKE": .like,
        "MATCHES": .matches, "TOKENMATCHES": .tokenMatches,
    ]
    private static let modifiers: [String: PredicateComparison.Modifier] = [
        "ANY": .any, "SOME": .any, "ALL": .all, "NONE": .none,
    ]

    private var lexer: PredicateLexer
    private var arguments: ArraySlice<Any>
    private let argumentsCount: Int
    private var token = PredicateToken.end
    private var depth = 0

    private init(_ format: String, _ arguments: [Any]) {
        lexer = PredicateLexer(format)
        self.arguments = arguments[...]
        argumentsCount = arguments.count
    }

    /// Parses a format string with the values of its placeholders.
    static func parse(_ format: String, arguments: [Any]) throws(PredicateFormatError) -> Predicate {
        var parser = PredicateParser(format, arguments)
        try parser.advance()
        let predicate = try parser.disjunction()
        guard parser.token == .end else { throw parser.error("the end was expected") }
        guard parser.arguments.isEmpty else {
            throw parser.error(
                "\(parser.argumentsCount) arguments were given, and \(parser.arguments.count) of them are not used"
            )
        }
        return predicate
    }

    // MARK: - Predicates

    private mutating func disjunction() throws(PredicateFormatError) -> Predicate {
        var parts = [try conjunction()]
        while try takeWord("OR", orSign: "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(PredicateFormatError) -> Predicate {
        var parts = [try negation()]
        while try takeWord("AND", orSign: "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(PredicateFormatError) -> Predicate {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw error("more than \(Self.depthMax) levels") }
        if try takeWord("NOT", orSign: "!") { return .not(try negation()) }
        if token == .sign("("), let inner = try parenthesized() { return inner }
        if try takeWord("TRUEPREDICATE") { return .constant(true) }
        if try takeWord("FALSEPREDICATE") { return .constant(false) }
        return try comparison()
    }

    /// Returns the predicate in parentheses. Nil, without reading anything, if they contain an operand.
    private mutating func parenthesized() throws(PredicateFormatError) -> Predicate? {
        let start = self
        try advance()
        do throws(PredicateFormatError) {
            let inner = try disjunction()
            try take(sign: ")")
            return inner
        } catch {
            let asPredicate = error
            self = start
            guard (try? operand()) != nil, isComparator else { throw asPredicate }
            self = start
            return nil
        }
    }

    private mutating func comparison() throws(PredicateFormatError) -> Predicate {
        var modifier = PredicateComparison.Modifier.direct
        if case .word(let word) = token, let named = Self.modifiers[word.uppercased()] {
            modifier = named
            try advance()
        }
        let left = try operand()
        guard let comparator = comparatorHere else { throw error("a comparison was expected") }
        try advance()
        var options = ""
        if token == .sign("[") {
            try advance()
            guard case .word(let letters) = token else { throw error("letters such as [cd] were expected") }
            options = letters.lowercased()
            try advance()
            try take(sign: "]")
        }
        return .comparison(
            PredicateComparison(
                modifier: modifier, left: left, comparator: comparator, options: options, right: try operand()
            ))
    }

    private var comparatorHere: PredicateComparison.Comparator? {
        switch token {
        case .word(let word): Self.comparators[word.uppercased()]
        case .sign(let sign): Self.comparators[sign]
        default: nil
        }
    }

    private var isComparator: Bool { comparatorHere != nil }

    // MARK: - Operands

    private mutating func operand() throws(PredicateFormatError) -> PredicateOperand {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw error("more than \(Self.depthMax) levels") }
        let operand = try simpleOperand()
        if case .sign(let sign) = token, ["+", "-", "*", "/"].contains(sign) {
            throw error("CloudKit can't calculate: a query compares a field with a value")
        }
        return operand
    }

    private mutating func simpleOperand() throws(PredicateFormatError) -> PredicateOperand {
        let here = token
        switch here {
        case .valueArgument:
            let operand = PredicateOperand(argument: try argument())
            try advance()
            return operand
        case .keyArgument:
            guard let name = try argument() as? String else { throw error("%K needs the name of a field") }
            try advance()
            return .key(name)
        case .number(let text):
            try advance()
            return try number(text)
        case .sign("-"):
            try advance()
            guard case .number(let text) = token else { throw error("a number was expected") }
            try advance()
            return try number("-" + text)
        case .string(let text):
            try advance()
            return .value(.string(text))
        case .variable(let name):
            try advance()
            return .variable(name)
        case .sign("("):
            try advance()
            let inner = try operand()
            try take(sign: ")")
            return inner
        case .sign("{"): return try aggregate()
        case .word(let word):
            try advance()
            return try named(word)
        case .sign, .end: throw error("a field or a value was expected")
        }
    }

    private mutating func aggregate() throws(PredicateFormatError) -> PredicateOperand {
        try advance()
        var elements: [PredicateOperand] = []
        while token != .sign("}") {
            if !elements.isEmpty { try take(sign: ",") }
            elements.append(try operand())
        }
        try advance()
        return .list(elements)
    }

    private mutating func named(_ word: String) throws(PredicateFormatError) -> PredicateOperand {
        if token == .sign("(") {
            try advance()
            var operands: [PredicateOperand] = []
            while token != .sign(")") {
                if !operands.isEmpty { try take(sign: ",") }
                operands.append(try operand())
            }
            try advance()
            return .function(word, operands)
        }
        if token == .sign("[") { throw error("CloudKit doesn't support elements of a list") }
        switch word.uppercased() {
        case "SELF": return .record
        case "NIL", "NULL": return .null
        case "TRUE", "YES": return .value(.int64(1))
        case "FALSE", "NO": return .value(.int64(0))
        default: break
        }
        let name = word.hasPrefix("#") ? String(word.dropFirst()) : word
        return .key(name.hasPrefix("SELF.") ? String(name.dropFirst("SELF.".count)) : name)
    }

    private func number(_ text: String) throws(PredicateFormatError) -> PredicateOperand {
        if let value = Int64(text) { return .value(.int64(value)) }
        let digits = text.hasPrefix("-") ? text.dropFirst() : Substring(text)
        if digits.lowercased().hasPrefix("0x"), let value = Int64(digits.dropFirst(2), radix: 16) {
            return .value(.int64(text.hasPrefix("-") ? -value : value))
        }
        guard let value = Double(text), value.isFinite else { throw error("'\(text)' isn't a number") }
        return .value(.double(value))
    }

    private mutating func argument() throws(PredicateFormatError) -> Any {
        guard let argument = arguments.popFirst() else {
            throw error(
                "the format has more placeholders than the \(argumentsCount) arguments that were given")
        }
        return argument
    }

    // MARK: - Tokens

    private mutating func advance() throws(PredicateFormatError) {
        token = try lexer.token()
    }

    private mutating func take(sign: String) throws(PredicateFormatError) {
        guard token == .sign(sign) else { throw error("'\(sign)' was expected") }
        try advance()
    }

    private mutating func takeWord(_ word: String, orSign sign: String? = nil) throws(PredicateFormatError)
        -> Bool
    {
        switch token {
        case .word(let here) where here.uppercased() == word: break
        case .sign(let here) where here == sign: break
        default: return false
        }
        try advance()
        return true
    }

    private func error(_ problem: String) -> PredicateFormatError {
        PredicateFormatError(problem: problem, offset: lexer.tokenOffset)
    }
}

extension PredicateOperand {
    /// Converts an app's argument. It may be a record, which stands for its ID.
    init(argument: Any) {
        switch argument {
        case let record as CKRecord: self = .value(.reference(CKReference(record: record, action: .none)))
        case let recordID as CKRecordID:
            self = .value(.reference(CKReference(recordID: recordID, action: .none)))
        case is NSNull: self = .null
        case let set as NSSet: self = .value(RecordFieldValue(any: set.allObjects.map(Self.plain)))
        case let list as [Any]: self = .value(RecordFieldValue(any: list.map(Self.plain)))
        default: self = .value(RecordFieldValue(any: argument))
        }
    }

    /// Converts an element of a list. A record stands for its reference.
    private static func plain(_ element: Any) -> Any {
        switch element {
        case let record as CKRecord: CKReference(record: record, action: .none)
        case let recordID as CKRecordID: CKReference(recordID: recordID, action: .none)
        default: element
        }
    }
}
