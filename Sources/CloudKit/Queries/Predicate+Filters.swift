internal import CloudWire
import Foundation

extension Predicate {
    /// The predicate of a response's `filters`.
    /// - Throws: `CKError.incompatibleVersion` for a filter that has no predicate.
    init(_ filters: [RecordFilter], zoneID: CKRecordZoneID) throws(CKError) {
        var parts: [Predicate] = []
        for filter in filters { parts.append(try Predicate(filter, zoneID)) }
        self = parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
    }

    private init(_ filter: RecordFilter, _ zoneID: CKRecordZoneID) throws(CKError) {
        let name = filter.comparator
        if let wire = filter.fieldValue?.value {
            let value = RecordFieldValue(wire, in: zoneID)
            if name == "CONTAINS_ALL_TOKENS" {
                self = .comparison(
                    PredicateComparison(left: .record, comparator: .contains, right: .value(value)))
                return
            }
            if let key = filter.fieldName ?? filter.systemFieldName.map(Self.key(systemFieldName:)) {
                if name == "NEAR", let metres = filter.distanceMetres {
                    let distance = PredicateOperand.function(
                        Self.distanceFunction, [.key(key), .value(value)])
                    self = .comparison(
                        PredicateComparison(left: distance, comparator: .less, right: .value(.double(metres)))
                    )
                    return
                }
                let isNegated = name.hasPrefix("NOT_") && name != "NOT_EQUALS"
                let plain = isNegated ? String(name.dropFirst("NOT_".count)) : name
                if let (modifier, comparator) = Self.comparators[plain] {
                    let comparison = Predicate.comparison(
                        PredicateComparison(
                            modifier: modifier, left: .key(key), comparator: comparator, right: .value(value))
                    )
                    self = isNegated ? .not(comparison) : comparison
                    return
                }
            }
        }
        throw CKError(.incompatibleVersion, "No predicate says \(name) of \(filter.fieldName ?? "a record").")
    }

    private static let comparators: [String: (PredicateComparison.Modifier, PredicateComparison.Comparator)] =
        [
            "EQUALS": (.direct, .equal), "NOT_EQUALS": (.direct, .notEqual), "LESS_THAN": (.direct, .less),
            "LESS_THAN_OR_EQUALS": (.direct, .lessOrEqual), "GREATER_THAN": (.direct, .greater),
            "GREATER_THAN_OR_EQUALS": (.direct, .greaterOrEqual), "IN": (.direct, .isIn),
            "LIST_CONTAINS": (.direct, .contains), "LIST_CONTAINS_ANY": (.any, .isIn),
            "BEGINS_WITH": (.direct, .beginsWith), "LIST_MEMBER_BEGINS_WITH": (.any, .beginsWith),
        ]

    /// Returns the field of a filter in the form of CloudKit JS.
    private static func key(systemFieldName: String) -> String {
        switch systemFieldName {
        case "recordName": "recordID"
        case "createdTimestamp": "creationDate"
        case "modifiedTimestamp": "modificationDate"
        case "createdUserRecordName": "creatorUserRecordID"
        case "modifiedUserRecordName": "lastModifiedUserRecordID"
        default: systemFieldName
        }
    }
}
