import Foundation

/// Compares texts on the device as `NSPredicate` does on Apple's platforms: exactly, or without case and diacritics, by
/// the letters after the comparator.
struct TextComparison {
    private let comparator: PredicateComparison.Comparator
    private let options: String.CompareOptions

    init(_ comparison: PredicateComparison) {
        comparator = comparison.comparator
        var options: String.CompareOptions = []
        if comparison.options.contains("c") { options.insert(.caseInsensitive) }
        if comparison.options.contains("d") { options.insert(.diacriticInsensitive) }
        self.options = options
    }

    /// Returns true if the comparison holds between two texts; false if the comparator isn't one of texts.
    func holds(_ left: String, _ right: String) -> Bool {
        let left = folded(left)
        if comparator == .matches { return matches(left, pattern: right) }
        let right = folded(right)
        return switch comparator {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left.utf8.lexicographicallyPrecedes(right.utf8)
        case .lessOrEqual: !right.utf8.lexicographicallyPrecedes(left.utf8)
        case .greater: right.utf8.lexicographicallyPrecedes(left.utf8)
        case .greaterOrEqual: !left.utf8.lexicographicallyPrecedes(right.utf8)
        case .contains: left.contains(right)
        case .isIn: right.contains(left)
        case .beginsWith: left.utf8.starts(with: right.utf8)
        case .endsWith: left.utf8.reversed().starts(with: right.utf8.reversed())
        case .like: matches(left, pattern: Self.pattern(like: right))
        case .tokenMatches: Self.words(right).isSubset(of: Self.words(left))
        case .between, .matches: false
        }
    }

    private func folded(_ text: String) -> String {
        options.isEmpty ? text : text.folding(options: options, locale: nil)
    }

    private func matches(_ text: String, pattern: String) -> Bool {
        // Only letters of the pattern lose their case, because `\S` and `\s` differ.
        let caseless: NSRegularExpression.Options = options.contains(.caseInsensitive) ? .caseInsensitive : []
        guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: caseless)
        else { return false }
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    /// `*` stands for any text, `?` for one character; a backslash escapes the next character.
    private static func pattern(like text: String) -> String {
        var pattern = "(?s)"
        var isEscaped = false
        for character in text {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: pattern += ".*"
            case "?" where !isEscaped: pattern += "."
            default: pattern += NSRegularExpression.escapedPattern(for: String(character))
            }
            isEscaped = false
        }
        return pattern
    }

    /// Returns the words of a text, without case and diacritics.
    static func words(_ text: String) -> Set<String> {
        let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        return Set(folded.split { !$0.isLetter && !$0.isNumber }.map { String($0) })
    }
}
