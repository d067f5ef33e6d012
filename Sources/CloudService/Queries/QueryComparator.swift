import CloudWire

/// A filter's comparator. The raw value is Apple's name.
enum QueryComparator: String, CaseIterable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case lessThan = "LESS_THAN"
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    case greaterThan = "GREATER_THAN"
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    case near = "NEAR"
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    case isIn = "IN"
    case notIn = "NOT_IN"
    case listContains = "LIST_CONTAINS"
    case notListContains = "NOT_LIST_CONTAINS"
    case listContainsAny = "LIST_CONTAINS_ANY"
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    case listContainsAll = "LIST_CONTAINS_ALL"
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    case beginsWith = "BEGINS_WITH"
    case notBeginsWith = "NOT_BEGINS_WITH"
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    /// Used by Apple's own apps only. Treated as LIST_CONTAINS_ANY for a list, and as IN for other fields.
    case containsAny = "CONTAINS_ANY"

    var isNegated: Bool { rawValue.hasPrefix("NOT_") }

    var isOfWords: Bool { self == .containsAllTokens || self == .containsAnyTokens }

    private static let withEquality: Set<FieldType> = [
        .string, .int64, .double, .timestamp, .reference, .bytes,
    ]
    private static let withOrder: Set<FieldType> = [.string, .int64, .double, .timestamp]

    /// Rejects a field that doesn't support the comparator.
    func check(_ field: QueryField) throws(WireError) {
        let isRight: Bool =
            switch self {
            case .equals, .notEquals, .isIn, .notIn: Self.withEquality.contains(field.type)
            case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
                Self.withOrder.contains(field.type)
            case .near: field.type == .location
            case .containsAllTokens, .containsAnyTokens: true
            case .listContains, .notListContains, .listContainsAny, .notListContainsAny, .listContainsAll,
                .notListContainsAll:
                field.type.isList && Self.withEquality.contains(field.elementType)
            case .beginsWith, .notBeginsWith: field.type == .string
            case .listMemberBeginsWith, .notListMemberBeginsWith: field.type == .stringList
            case .containsAny: Self.withEquality.contains(field.elementType)
            }
        guard isRight else {
            throw ServiceError.badRequest(
                "field '\(field.shownName)' is of type \(field.type.rawValue), which can't be compared by \(rawValue)"
            )
        }
    }
}
