/// A token of a format string.
enum PredicateToken: Hashable {
    case word(String)
    case number(String)
    case string(String)
    /// `%@`, `%d`, ...: the next argument as a value.
    case valueArgument
    /// `%K`: the next argument as a field's name.
    case keyArgument
    case variable(String)
    case sign(String)
    case end
}

/// Splits a format string into tokens.
struct PredicateLexer {
    /// Longest first, because the first match is taken.
    private static let signs = [
        "==", "=<", "=>", "!=", "<=", "<>", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", "[",
        "]",
        ",", "+", "-", "*", "/",
    ]
    /// The conversions of `String(format:)` and of predicates for numbers, texts and pointers.
    private static let conversions = Set("@diuxXoDUfFeEgGaAcCsSp")
    private static let lengths = Set("hlqLztj")

    private let text: [Character]
    private var next = 0
    /// The offset of the last token.
    private(set) var tokenOffset = 0

    init(_ text: String) {
        self.text = Array(text)
    }

    mutating func token() throws(PredicateFormatError) -> PredicateToken {
        while next < text.count, text[next].isWhitespace { next += 1 }
        tokenOffset = next
        guard next < text.count else { return .end }
        switch text[next] {
        case "%": return try argument()
        case "$":
            next += 1
            return .variable(word())
        case "\"", "'": return .string(try quoted())
        // `@"text"` remains from a macro, `#key` is a key that is also a reserved word.
        case "@" where next + 1 < text.count && "\"'".contains(text[next + 1]):
            next += 1
            return .string(try quoted())
        case "#":
            next += 1
            return .word("#" + word())
        case let first where first.isNumber || (first == "." && isNumber(at: next + 1)):
            return .number(number())
        case let first where first.isLetter || first == "_" || first == "@": return .word(word())
        default: return try sign()
        }
    }

    private func isNumber(at index: Int) -> Bool { index < text.count && text[index].isNumber }

    private mutating func argument() throws(PredicateFormatError) -> PredicateToken {
        next += 1
        while next < text.count, Self.lengths.contains(text[next]) { next += 1 }
        guard next < text.count else { throw PredicateFormatError(problem: "a lone %", offset: tokenOffset) }
        let conversion = text[next]
        next += 1
        if conversion == "K" { return .keyArgument }
        guard Self.conversions.contains(conversion) else {
            throw PredicateFormatError(problem: "%\(conversion) isn't a placeholder", offset: tokenOffset)
        }
        return .valueArgument
    }

    private mutating func quoted() throws(PredicateFormatError) -> String {
        let quote = text[next]
        next += 1
        var result = ""
        while next < text.count, text[next] != quote {
            if text[next] == "\\", next + 1 < text.count {
                next += 1
                result.append(Self.escaped(text[next]))
            } else {
                result.append(text[next])
            }
            next += 1
        }
        guard next < text.count else {
            throw PredicateFormatError(problem: "the text that begins here has no end", offset: tokenOffset)
        }
        next += 1
        return result
    }

    private static func escaped(_ character: Character) -> Character {
        switch character {
        case "n": "\n"
        case "t": "\t"
        case "r": "\r"
        default: character
        }
    }

    /// Returns a name, a path of names, or a selector such as `distanceToLocation:fromLocation:`.
    private mutating func word() -> String {
        let start = next
        while next < text.count {
            let character = text[next]
            guard character.isLetter || character.isNumber || "_.:@".contains(character) else { break }
            next += 1
        }
        return String(text[start..<next])
    }

    private mutating func number() -> String {
        let start = next
        if text[next] == "0", next + 1 < text.count, "xX".contains(text[next + 1]) {
            next += 2
            while next < text.count, text[next].isHexDigit { next += 1 }
            return String(text[start..<next])
        }
        var last: Character = " "
        while next < text.count {
            let character = text[next]
            let isSignOfExponent = "+-".contains(character) && "eE".contains(last)
            guard character.isNumber || ".eE".contains(character) || isSignOfExponent else { break }
            last = character
            next += 1
        }
        return String(text[start..<next])
    }

    private mutating func sign() throws(PredicateFormatError) -> PredicateToken {
        for sign in Self.signs where text[next...].starts(with: sign) {
            next += sign.count
            return .sign(sign)
        }
        throw PredicateFormatError(problem: "'\(text[next])' isn't valid here", offset: next)
    }
}
