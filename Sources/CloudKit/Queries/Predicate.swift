/// A parsed predicate.
indirect enum Predicate: Hashable, Sendable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    case comparison(PredicateComparison)
}

/// Two operands and their comparison.
struct PredicateComparison: Hashable, Sendable {
    /// The elements of a list on the left that must match.
    enum Modifier: String, Sendable {
        case direct = ""
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
    }

    enum Comparator: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case contains = "CONTAINS"
        case isIn = "IN"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
        case tokenMatches = "TOKENMATCHES"

        /// The equivalent comparator for exchanged operands; nil if it doesn't exist.
        var flipped: Comparator? {
            switch self {
            case .equal, .notEqual: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            case .contains: .isIn
            case .isIn: .contains
            case .between, .beginsWith, .endsWith, .like, .matches, .tokenMatches: nil
            }
        }
    }

    var modifier = Modifier.direct
    var left: PredicateOperand
    var comparator: Comparator
    /// The letters after the comparator: `c` for case, `d` for diacritics, `l` for locale.
    var options = ""
    var right: PredicateOperand

    /// True if the comparison searches for words in all texts of a record.
    var isOfWords: Bool { left.isAllWords && [.contains, .tokenMatches].contains(comparator) }
}

/// An operand of a comparison.
indirect enum PredicateOperand: Hashable, Sendable {
    /// A field by its name, or a path of names.
    case key(String)
    /// The record itself.
    case record
    case value(RecordFieldValue)
    /// `nil`, which queries don't support.
    case null
    /// `{a, b}`.
    case list([PredicateOperand])
    case function(String, [PredicateOperand])
    /// `$name`, which a template would fill in.
    case variable(String)

    /// True if the operand means the words of all fields that are SEARCHABLE.
    var isAllWords: Bool { self == .record || self == .key("allTokens") }
}

/// The reason that a format string is invalid, and its position.
struct PredicateFormatError: Error, Hashable {
    var problem: String
    /// Counted in characters, from 0.
    var offset: Int
}
