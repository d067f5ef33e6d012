import CloudService
import CloudStore
import CloudWire

/// `--where` and `--sort` as a query of the web protocol, for which there may be an index.
struct RecordIndexQuery {
    let query: RecordQuery

    /// Nil if a condition can't be a query: for a field that isn't in the schema, or with a value of another type.
    init?(_ recordType: String, _ conditions: [RecordCondition], _ orders: [RecordOrder], _ schema: Schema) {
        guard let type = schema.recordTypes[recordType], !conditions.isEmpty || !orders.isEmpty else {
            return nil
        }
        var query = RecordQuery(recordType: recordType)
        for condition in conditions {
            guard let filter = condition.filter(of: type) else { return nil }
            query.filterBy = (query.filterBy ?? []) + [filter]
        }
        for order in orders {
            let isOwn = type.fields[order.field] != nil
            let sort = RecordSort(
                fieldName: isOwn ? order.field : nil, systemFieldName: isOwn ? nil : order.field,
                ascending: !order.isDescending)
            query.sortBy = (query.sortBy ?? []) + [sort]
        }
        self.query = query
    }
}

extension RecordCondition {
    fileprivate func filter(of type: RecordType) -> RecordFilter? {
        let own = type.fields[field]?.type
        guard let fieldType = own ?? Self.systemTypes[field],
            let operand = operand(of: fieldType.elementType ?? fieldType)
        else { return nil }
        let isList = fieldType.elementType != nil
        let comparator =
            switch comparison {
            case .equal: isList ? "LIST_CONTAINS" : "EQUALS"
            case .notEqual: isList ? "NOT_LIST_CONTAINS" : "NOT_EQUALS"
            case .less: "LESS_THAN"
            case .lessOrEqual: "LESS_THAN_OR_EQUALS"
            case .greater: "GREATER_THAN"
            case .greaterOrEqual: "GREATER_THAN_OR_EQUALS"
            }
        return RecordFilter(
            comparator: comparator, fieldName: own == nil ? nil : field,
            systemFieldName: own == nil ? field : nil, fieldValue: Field(operand))
    }

    /// Fields of every record besides those of its type.
    static let systemTypes: [String: FieldType] = [
        "recordName": .reference, "___recordID": .reference, "createdTimestamp": .timestamp,
        "___createTime": .timestamp, "modifiedTimestamp": .timestamp, "___modTime": .timestamp,
    ]

    private func operand(of type: FieldType) -> FieldValue? {
        switch type {
        case .string: .string(value)
        case .int64: (Int64(value) ?? ["true": 1, "false": 0][value]).map { .int64($0) }
        case .double: Double(value).map { .double($0) }
        case .timestamp: Int64(value).map { .timestamp(milliseconds: $0) }
        case .reference: .reference(Reference(recordName: value))
        default: nil
        }
    }
}
