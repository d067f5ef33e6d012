/// A predicate that was written as a format string, read.
indirect enum Predicate: Hashable, Sendable {
    case constant(Bool)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    case comparison(PredicateComparison)
}

/// Two operands and what is asked of them.
struct PredicateComparison: Hashable, Sendable {
    /// Which elements of a list on the left have to compare so.
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

        /// The one that says the same with the operands exchanged; nil when there is none.
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
    /// The letters behind the comparator: `c` for case, `d` for diacritics, `l` for locale.
    var options = ""
    var right: PredicateOperand

    /// Whether words are looked for in all of a record's texts.
    var isOfWords: Bool { left.isAllWords && [.contains, .tokenMatches].contains(comparator) }
}

/// What stands on a side of a comparison.
indirect enum PredicateOperand: Hashable, Sendable {
    /// A field by its name, or a path of names.
    case key(String)
    /// The record itself.
    case record
    case value(RecordFieldValue)
    /// `nil`, which no query can ask for.
    case null
    /// `{a, b}`.
    case list([PredicateOperand])
    case function(String, [PredicateOperand])
    /// `$name`, which a template would fill in.
    case variable(String)

    /// Whether the operand means the words of all fields that are SEARCHABLE.
    var isAllWords: Bool { self == .record || self == .key("allTokens") }
}

/// Why a format string can't be read, and where.
struct PredicateFormatError: Error, Hashable {
    var problem: String
    /// Counted in characters, from 0.
    var offset: Int
}
