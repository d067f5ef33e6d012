import CoreLocation
import Foundation
internal import System

/// Evaluates a predicate on an object on the device: a record, a dictionary of values, or a value.
///
/// With it an app filters local objects with the predicate of its query. It supports comparisons that the
/// cloud lacks but Foundation on Apple's platforms has: substrings, LIKE, MATCHES, and comparisons without
/// case and diacritics.
enum PredicateEvaluation {
    /// The name of the object itself, among the names of fields.
    private static let selfKey = "SELF"

    /// Returns false for an invalid predicate, and for a value that no field can hold.
    static func matches(_ parsed: Result<Predicate, PredicateFormatError>, _ object: Any?) -> Bool {
        guard case .success(let predicate) = parsed, let subject = subject(object) else { return false }
        return matches(predicate, subject)
    }

    /// The evaluated object.
    private struct Subject {
        /// The value of a field.
        var value: (String) -> RecordFieldValue?
        /// The user that `CKCurrentUserDefaultName` stands for in the record.
        var userRecordName: String?

        /// Returns the value with the user under one name.
        func named(_ value: RecordFieldValue?) -> RecordFieldValue? {
            guard let userRecordName else { return value }
            switch value {
            case .reference(let reference)?
            where reference.recordID == CKRecordID(recordName: userRecordName):
                return .reference(CKReference(recordID: .currentUser, action: .none))
            case .list(let values)?: return .list(values.compactMap { named($0) })
            default: return value
            }
        }
    }

    private static func subject(_ object: Any?) -> Subject? {
        switch object {
        case let record as CKRecord:
            let state = record.state
            return Subject(value: { key in value(of: key, in: state) }, userRecordName: state.userRecordName)
        case let values as [String: Any]:
            return Subject { key in values[key].map { RecordFieldValue(any: $0) } }
        case nil: return Subject { _ in nil }
        case let object?:
            let value = RecordFieldValue(any: object)
            if case .unsupported = value { return nil }
            return Subject { key in key == selfKey ? value : nil }
        }
    }

    private static func value(of key: String, in state: RecordState) -> RecordFieldValue? {
        switch SystemFieldName(key) {
        case .recordID: .reference(CKReference(recordID: state.recordID, action: .none))
        case .creationDate: state.creationDate.map { .date($0) }
        case .modificationDate: state.modificationDate.map { .date($0) }
        case .creator: state.creatorUserRecordID.map { .reference(CKReference(recordID: $0, action: .none)) }
        case .lastModifier:
            state.lastModifiedUserRecordID.map { .reference(CKReference(recordID: $0, action: .none)) }
        case .parent: state.parent.map { .reference($0) }
        case .share: state.share.map { .reference($0) }
        case nil where key == "allTokens": .string(words(of: state))
        case nil where key == selfKey: .reference(CKReference(recordID: state.recordID, action: .none))
        case nil: state.plain[key]
        }
    }

    /// Returns all texts of a record, joined. The cloud searches only fields that are marked searchable, which a
    /// record doesn't know.
    private static func words(of state: RecordState) -> String {
        let texts = state.plain.values.values.compactMap { value -> String? in
            if case .string(let text) = value { text } else { nil }
        }
        return texts.joined(separator: "\n")
    }

    private static func matches(_ predicate: Predicate, _ subject: Subject) -> Bool {
        switch predicate {
        case .constant(let constant): constant
        case .and(let parts): parts.allSatisfy { matches($0, subject) }
        case .or(let parts): parts.contains { matches($0, subject) }
        case .not(let part): !matches(part, subject)
        case .comparison(let comparison): matches(comparison, subject)
        }
    }

    private static func matches(_ comparison: PredicateComparison, _ subject: Subject) -> Bool {
        let right = resolve(comparison.right, subject)
        if comparison.isOfWords, case .string(let all)? = subject.value("allTokens") {
            guard case .string(let words)? = right else { return false }
            return TextComparison.words(words).isSubset(of: TextComparison.words(all))
        }
        let left = resolve(comparison.left, subject)
        guard comparison.modifier != .direct else { return holds(left, comparison, right) }
        guard case .list(let elements)? = left else { return comparison.modifier == .none }
        let holding = elements.filter { holds($0, comparison, right) }
        return switch comparison.modifier {
        case .any, .direct: !holding.isEmpty
        case .all: holding.count == elements.count
        case .none: holding.isEmpty
        }
    }

    private static func resolve(_ operand: PredicateOperand, _ subject: Subject) -> RecordFieldValue? {
        switch operand {
        case .key(let key): subject.named(subject.value(key))
        case .value(let constant): subject.named(constant)
        case .list(let operands): .list(operands.compactMap { resolve($0, subject) })
        case .function(Predicate.distanceFunction, let operands):
            distance(operands.map { resolve($0, subject) }).map { .double($0) }
        case .function("now", []): .date(Date(milliseconds: CKContainer.predicateClock.nowMilliseconds()))
        case .record: subject.named(subject.value(selfKey))
        case .null, .function, .variable: nil
        }
    }

    private static func distance(_ places: [RecordFieldValue?]) -> Double? {
        guard places.count == 2, case .location(let first)? = places[0],
            case .location(let second)? = places[1]
        else { return nil }
        return first.distance(from: second)
    }

    private static func holds(
        _ left: RecordFieldValue?, _ comparison: PredicateComparison, _ right: RecordFieldValue?
    )
        -> Bool
    {
        if case .string(let left)? = left, case .string(let right)? = right {
            return TextComparison(comparison).holds(left, right)
        }
        return switch comparison.comparator {
        case .equal: areEqual(left, right)
        case .notEqual: !areEqual(left, right)
        case .less: order(left, right).map { $0 < 0 } ?? false
        case .lessOrEqual: order(left, right).map { $0 <= 0 } ?? false
        case .greater: order(left, right).map { $0 > 0 } ?? false
        case .greaterOrEqual: order(left, right).map { $0 >= 0 } ?? false
        case .between: isBetween(left, right)
        case .contains: elements(left).contains { isElement($0, comparison, right) }
        case .isIn: elements(right).contains { isElement($0, comparison, left) }
        case .beginsWith, .endsWith, .like, .matches, .tokenMatches: false
        }
    }

    private static func elements(_ list: RecordFieldValue?) -> [RecordFieldValue] {
        if case .list(let elements)? = list { elements } else { [] }
    }

    /// Returns true if an element of a list equals the wanted value, with the options of the comparison.
    private static func isElement(
        _ element: RecordFieldValue, _ comparison: PredicateComparison, _ wanted: RecordFieldValue?
    ) -> Bool {
        guard let wanted else { return false }
        var equality = comparison
        equality.comparator = .equal
        return holds(element, equality, wanted)
    }

    private static func areEqual(_ left: RecordFieldValue?, _ right: RecordFieldValue?) -> Bool {
        switch (left, right) {
        case (.reference(let left)?, .reference(let right)?): left.recordID == right.recordID
        case (.int64?, .double?), (.double?, .int64?): order(left, right) == 0
        default: left == right
        }
    }

    /// Negative if `left` comes first; nil for values without an order.
    private static func order(_ left: RecordFieldValue?, _ right: RecordFieldValue?) -> Int? {
        switch (left, right) {
        case (.string(let left)?, .string(let right)?): sign(Array(left.utf8), Array(right.utf8))
        case (.int64(let left)?, .int64(let right)?): (left < right ? -1 : left > right ? 1 : 0)
        case (.date(let left)?, .date(let right)?): (left < right ? -1 : left > right ? 1 : 0)
        default: numbers(left, right).map { $0 < $1 ? -1 : $0 > $1 ? 1 : 0 }
        }
    }

    private static func sign(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left.lexicographicallyPrecedes(right) { return -1 }
        return left == right ? 0 : 1
    }

    private static func numbers(_ left: RecordFieldValue?, _ right: RecordFieldValue?) -> (Double, Double)? {
        guard let left = number(left), let right = number(right) else { return nil }
        return (left, right)
    }

    private static func number(_ value: RecordFieldValue?) -> Double? {
        switch value {
        case .int64(let value)?: Double(value)
        case .double(let value)?: value
        default: nil
        }
    }

    private static func isBetween(_ value: RecordFieldValue?, _ bounds: RecordFieldValue?) -> Bool {
        guard case .list(let bounds)? = bounds, bounds.count == 2 else { return false }
        guard let lower = order(bounds[0], value), let upper = order(value, bounds[1]) else { return false }
        return lower <= 0 && upper <= 0
    }
}
