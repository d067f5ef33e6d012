internal import CloudWire
import CoreLocation
import Foundation

/// A predicate as the filters of a query. All of them must match.
struct QueryFilters {
    private(set) var filters: [RecordFilter] = []
    /// True if the predicate can't match any record, so that no request is needed.
    private(set) var matchesNothing = false
    /// The zone of the query's records: the zone of references in comparisons.
    private let zoneID: CKRecordZoneID?

    /// The value of `now()`.
    private let date: Date

    /// - Throws: `CKError.invalidArguments`, which names the unsupported part.
    init(_ predicate: Predicate, zoneID: CKRecordZoneID?, date: Date) throws(CKError) {
        self.zoneID = zoneID
        self.date = date
        try add(predicate)
    }

    private mutating func add(_ predicate: Predicate) throws(CKError) {
        switch predicate {
        case .constant(let holds): matchesNothing = matchesNothing || !holds
        case .and(let parts): for part in parts { try add(part) }
        case .or: throw .unaskable("OR: run a query for each part, or use IN")
        case .not(.constant(let holds)): matchesNothing = matchesNothing || holds
        case .not(.not(let inner)): try add(inner)
        case .not(.comparison(let comparison)):
            guard comparison.comparator != .between, let opposite = try condition(comparison).opposite else {
                throw .unaskable("NOT over \(comparison.comparator.rawValue)")
            }
            try add(opposite)
        case .not(.and): throw .unaskable("NOT over AND")
        case .not(.or(let parts)): for part in parts { try add(.not(part)) }
        case .comparison(let comparison):
            if comparison.comparator == .between { return try addBetween(comparison) }
            try add(try condition(comparison))
        }
    }

    // MARK: - Comparisons

    /// A field, a comparator and a value.
    private struct Condition {
        var key: String?
        var comparator: String
        var value: RecordFieldValue
        var distanceMetres: Double?

        /// The negated condition; nil if the cloud doesn't support it.
        var opposite: Condition? {
            let opposites = [
                "EQUALS": "NOT_EQUALS", "NOT_EQUALS": "EQUALS", "IN": "NOT_IN",
                "LIST_CONTAINS": "NOT_LIST_CONTAINS",
                "LIST_CONTAINS_ANY": "NOT_LIST_CONTAINS_ANY", "BEGINS_WITH": "NOT_BEGINS_WITH",
                "LIST_MEMBER_BEGINS_WITH": "NOT_LIST_MEMBER_BEGINS_WITH",
                "LESS_THAN": "GREATER_THAN_OR_EQUALS",
                "LESS_THAN_OR_EQUALS": "GREATER_THAN", "GREATER_THAN": "LESS_THAN_OR_EQUALS",
                "GREATER_THAN_OR_EQUALS": "LESS_THAN",
            ]
            guard let name = opposites[comparator] else { return nil }
            var opposite = self
            opposite.comparator = name
            return opposite
        }
    }

    private mutating func add(_ condition: Condition) throws(CKError) {
        filters.append(
            RecordFilter(
                comparator: condition.comparator,
                fieldName: condition.key.map { SystemFieldName.wireName($0) },
                fieldValue: try wire(condition.value, of: condition.key),
                distanceMetres: condition.distanceMetres))
    }

    private mutating func addBetween(_ comparison: PredicateComparison) throws(CKError) {
        let key = try field(comparison.left)
        guard comparison.modifier == .direct, case .list(let bounds)? = try constant(comparison.right),
            bounds.count == 2
        else { throw .unaskable("BETWEEN without two bounds, as in BETWEEN {1, 10}") }
        try add(Condition(key: key, comparator: "GREATER_THAN_OR_EQUALS", value: bounds[0]))
        try add(Condition(key: key, comparator: "LESS_THAN_OR_EQUALS", value: bounds[1]))
    }

    private func condition(_ comparison: PredicateComparison) throws(CKError) -> Condition {
        var comparison = comparison
        if case .function(Predicate.distanceFunction, let operands) = comparison.left {
            return try near(operands, comparison)
        }
        if try constant(comparison.left) != nil, let flipped = comparison.comparator.flipped,
            comparison.modifier == .direct
        {
            swap(&comparison.left, &comparison.right)
            comparison.comparator = flipped
            if case .function(Predicate.distanceFunction, let operands) = comparison.left {
                return try near(operands, comparison)
            }
        }
        if comparison.left.isAllWords { return try words(comparison) }
        let key = try field(comparison.left)
        guard let value = try constant(comparison.right) else {
            throw .unaskable("'\(key)' compared with something that isn't a value")
        }
        guard comparison.options.isEmpty else {
            throw .unaskable(
                "\(comparison.comparator.rawValue)[\(comparison.options)]: text is compared exactly")
        }
        switch comparison.modifier {
        case .direct: return try direct(key, comparison.comparator, value)
        case .any: return try any(key, comparison.comparator, value)
        case .none:
            guard let opposite = try any(key, comparison.comparator, value).opposite else {
                throw .unaskable("NONE with \(comparison.comparator.rawValue)")
            }
            return opposite
        case .all: throw .unaskable("ALL")
        }
    }

    private func direct(
        _ key: String, _ comparator: PredicateComparison.Comparator, _ value: RecordFieldValue
    ) throws(CKError) -> Condition {
        let name =
            switch comparator {
            case .equal: "EQUALS"
            case .notEqual: "NOT_EQUALS"
            case .less: "LESS_THAN"
            case .lessOrEqual: "LESS_THAN_OR_EQUALS"
            case .greater: "GREATER_THAN"
            case .greaterOrEqual: "GREATER_THAN_OR_EQUALS"
            case .isIn: "IN"
            case .contains: "LIST_CONTAINS"
            case .beginsWith: "BEGINS_WITH"
            case .between, .endsWith, .like, .matches, .tokenMatches: ""
            }
        guard !name.isEmpty else { throw .unaskable(comparator.rawValue) }
        if comparator == .isIn, case .list = value {
        } else if comparator == .isIn {
            throw .unaskable("IN without a list")
        }
        return Condition(key: key, comparator: name, value: value)
    }

    private func any(
        _ key: String, _ comparator: PredicateComparison.Comparator, _ value: RecordFieldValue
    ) throws(CKError) -> Condition {
        switch comparator {
        case .equal, .contains: return Condition(key: key, comparator: "LIST_CONTAINS", value: value)
        case .isIn: return Condition(key: key, comparator: "LIST_CONTAINS_ANY", value: value)
        case .beginsWith: return Condition(key: key, comparator: "LIST_MEMBER_BEGINS_WITH", value: value)
        default: throw .unaskable("ANY with \(comparator.rawValue)")
        }
    }

    /// `distanceToLocation:fromLocation:(field, location) < metres`.
    private func near(
        _ operands: [PredicateOperand], _ comparison: PredicateComparison
    ) throws(CKError) -> Condition {
        guard operands.count == 2, comparison.modifier == .direct else {
            throw .unaskable("a distance that isn't between a field and a location")
        }
        guard [.less, .lessOrEqual].contains(comparison.comparator) else {
            throw .unaskable(
                "a distance with \(comparison.comparator.rawValue): only records within a distance can be found"
            )
        }
        let isPlaceFirst = try constant(operands[0]) != nil
        let key = try field(operands[isPlaceFirst ? 1 : 0])
        guard case .location(let place)? = try constant(operands[isPlaceFirst ? 0 : 1]) else {
            throw .unaskable("the distance of '\(key)' to something that isn't a CLLocation")
        }
        let metres: Double
        switch try constant(comparison.right) {
        case .int64(let value)?: metres = Double(value)
        case .double(let value)?: metres = value
        default: throw .unaskable("a distance compared with something that isn't a number of metres")
        }
        return Condition(key: key, comparator: "NEAR", value: .location(place), distanceMetres: metres)
    }

    // MARK: - Words

    private func words(_ comparison: PredicateComparison) throws(CKError) -> Condition {
        guard comparison.modifier != .all, comparison.modifier != .none,
            [.contains, .tokenMatches].contains(comparison.comparator)
        else { throw .unaskable("\(comparison.comparator.rawValue) over all words of a record") }
        guard case .string(let words)? = try constant(comparison.right) else {
            throw .unaskable("words that aren't a text")
        }
        return Condition(key: nil, comparator: "CONTAINS_ALL_TOKENS", value: .string(words))
    }

    // MARK: - Operands

    private func field(_ operand: PredicateOperand) throws(CKError) -> String {
        guard case .key(let key) = operand else { throw .unaskable("a comparison without a field") }
        guard !key.contains(".") else { throw .unaskable("'\(key)': a field has no fields of its own") }
        return key
    }

    /// Returns the value of an operand without a field, or nil for a field.
    private func constant(_ operand: PredicateOperand) throws(CKError) -> RecordFieldValue? {
        switch operand {
        case .key, .record: return nil
        case .value(.unsupported(let reason)): throw .unaskable("a value: \(reason)")
        case .value(let value): return value
        case .null: throw .unaskable("nil: records without a value can't be found")
        case .variable(let name): throw .unaskable("the variable $\(name)")
        case .list(let operands):
            var values: [RecordFieldValue] = []
            for operand in operands {
                guard let value = try constant(operand) else { throw .unaskable("a list with fields in it") }
                values.append(value)
            }
            return .list(values)
        case .function(Predicate.tokenizeFunction, let operands):
            guard let text = operands.first else { throw .unaskable("tokenize:using: without a text") }
            return try constant(text)
        case .function(Predicate.distanceFunction, _): return nil
        case .function("now", []): return .date(date)
        case .function(let name, _): throw .unaskable("the function \(name)")
        }
    }

    private func wire(_ value: RecordFieldValue, of key: String?) throws(CKError) -> Field {
        if case .list(let values) = value, values.isEmpty { return Field(.list(.unknownList, [])) }
        let field = key.flatMap { SystemFieldName($0) }
        let value = field == .recordID ? reference(value) : value
        // User records are in the default zone, regardless of the searched zone.
        let zoneID = field == .creator || field == .lastModifier ? nil : zoneID
        return try value.wire(isEncrypted: false, in: zoneID ?? Self.zone(of: value) ?? .default)
    }

    private static func zone(of value: RecordFieldValue) -> CKRecordZoneID? {
        switch value {
        case .reference(let reference): reference.recordID.zoneID
        case .list(let values): values.first.flatMap { zone(of: $0) }
        default: nil
        }
    }

    /// Returns a reference for a record's ID or name. A plain name is a record of the query's zone.
    private func reference(_ value: RecordFieldValue) -> RecordFieldValue {
        switch value {
        case .string(let name):
            let recordID = CKRecordID(recordName: name, zoneID: zoneID ?? .default)
            return .reference(CKReference(recordID: recordID, action: .none))
        case .list(let values): return .list(values.map(reference))
        default: return value
        }
    }
}

extension Predicate {
    /// The distance between a field and a location, in metres.
    static let distanceFunction = "distanceToLocation:fromLocation:"
    /// The words of a text.
    static let tokenizeFunction = "tokenize:using:"
}

extension CKError {
    fileprivate static func unaskable(_ what: String) -> CKError {
        CKError(.invalidArguments, "The cloud doesn't support this predicate: \(what).")
    }
}
