import CloudStore
import CloudWire
import System

/// Parses a query as sent by a client, and rejects one that doesn't match the schema.
struct QueryReading {
    let schema: Schema
    /// The database to search.
    let database: StoredDatabaseKey
    /// The calling user, for the framework's placeholder name.
    let userRecordName: String?
    let limits: ServiceLimits

    func resolve(_ query: RecordQuery) throws(WireError) -> ResolvedQuery {
        guard let recordType = query.recordType, !recordType.isEmpty else {
            throw ServiceError.badRequest("missing required field 'recordType'")
        }
        guard recordType != Schema.usersTypeName else {
            throw ServiceError.badRequest("Can't query system types")
        }
        guard let type = schema.recordTypes[recordType] else {
            throw ServiceError.unknownRecordType(recordType)
        }
        let filters = query.filterBy ?? []
        let sorts = query.sortBy ?? []
        guard filters.count + sorts.count <= limits.queryTermsMax else {
            throw ServiceError.badRequest("a query has \(limits.queryTermsMax) filters and sorts at most")
        }
        var conditions: [QueryCondition] = []
        for filter in filters { conditions.append(try condition(filter, type)) }
        var sortKeys: [QuerySortKey] = []
        for sort in sorts {
            let key = try sortKey(sort, type)
            // Record names are unique, so further sort keys have no effect.
            if sortKeys.last?.field.system != .recordID { sortKeys.append(key) }
        }
        if conditions.isEmpty && sortKeys.isEmpty {
            let recordID = QueryField(.recordID, in: type)
            guard recordID.indexes.contains(.queryable) else {
                throw ServiceError.notMarked(recordID, "queryable")
            }
        }
        let valuesCount = conditions.reduce(0) { $0 + $1.valuesCount }
        return ResolvedQuery(
            recordType: recordType, conditions: conditions, sortKeys: sortKeys, type: type,
            rowsOfRecord: 1 + valuesCount / limits.querySearch.valuesOfRow)
    }

    // MARK: - Sorts

    private func sortKey(_ sort: RecordSort, _ type: RecordType) throws(WireError) -> QuerySortKey {
        let field = try QueryField(fieldName: sort.fieldName, systemFieldName: sort.systemFieldName, in: type)
        guard field.indexes.contains(.sortable) else { throw ServiceError.notMarked(field, "sortable") }
        let isAscending = sort.ascending ?? true
        guard let relative = sort.relativeLocation else {
            guard field.type != .location else {
                throw ServiceError.badRequest(
                    "a sort by the location '\(field.shownName)' needs a relativeLocation")
            }
            guard !field.type.isList else {
                throw ServiceError.badRequest("field '\(field.shownName)' is a list, which has no order")
            }
            return QuerySortKey(field: field, isAscending: isAscending, place: nil)
        }
        guard field.type == .location else {
            throw ServiceError.badRequest(
                "field '\(field.shownName)' is of type \(field.type.rawValue), and has no distance to a "
                    + "relativeLocation"
            )
        }
        return QuerySortKey(field: field, isAscending: isAscending, place: try place(relative, field))
    }

    private func place(_ value: Field, _ field: QueryField) throws(WireError) -> Place {
        guard case .location(let location) = value.value else { throw mismatch(field, value) }
        guard let place = Place(location) else {
            throw ServiceError.badRequest("field '\(field.shownName)': the location is not on the earth")
        }
        return place
    }

    // MARK: - Filters

    private func condition(_ filter: RecordFilter, _ type: RecordType) throws(WireError) -> QueryCondition {
        guard let comparator = QueryComparator(rawValue: filter.comparator) else {
            throw ServiceError.badRequest("unknown comparator '\(filter.comparator)'")
        }
        if comparator.isOfWords { return try words(filter, comparator, type) }
        let field = try QueryField(
            fieldName: filter.fieldName, systemFieldName: filter.systemFieldName, in: type)
        guard field.indexes.contains(.queryable) else { throw ServiceError.notMarked(field, "queryable") }
        guard let value = filter.fieldValue, value.value != nil else {
            throw ServiceError.badRequest("the filter of field '\(field.shownName)' has no fieldValue")
        }
        try comparator.check(field)
        return QueryCondition(
            fields: [field], test: try test(comparator, field, value, distanceMetres: filter.distanceMetres),
            isNegated: comparator.isNegated)
    }

    private func test(
        _ comparator: QueryComparator, _ field: QueryField, _ value: Field, distanceMetres: Double?
    ) throws(WireError) -> QueryCondition.Test {
        switch comparator {
        case .equals, .notEquals, .listContains, .notListContains:
            return any([try scalar(value, field)])
        case .isIn, .notIn, .listContainsAny, .notListContainsAny, .containsAny:
            return any(try list(value, field))
        case .listContainsAll, .notListContainsAll:
            return all(try list(value, field))
        case .near:
            guard let distanceMetres, distanceMetres >= 0 else {
                throw ServiceError.badRequest("NEAR field '\(field.shownName)' needs a distance in metres")
            }
            return .near(try place(value, field), metres: distanceMetres)
        case .lessThan:
            return .anyIn([ByteRange(lower: [], upper: try scalar(value, field).bytes)].merged())
        case .lessThanOrEquals:
            return .anyIn([ByteRange(lower: [], upper: try scalar(value, field).bytes + [0])])
        case .greaterThan:
            return .anyIn([ByteRange(lower: try scalar(value, field).bytes + [0], upper: nil)])
        case .greaterThanOrEquals:
            return .anyIn([ByteRange(lower: try scalar(value, field).bytes, upper: nil)])
        case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith:
            return .anyIn([ByteRange(prefix: try scalar(value, field).bytes)])
        case .containsAllTokens, .containsAnyTokens:
            return .words([], needsAll: true)
        }
    }

    private func words(
        _ filter: RecordFilter, _ comparator: QueryComparator, _ type: RecordType
    ) throws(WireError) -> QueryCondition {
        var fields: [QueryField]
        if filter.fieldName == nil && filter.systemFieldName == nil {
            fields = QueryField.indexed(of: type).filter { $0.indexes.contains(.searchable) }
            guard !fields.isEmpty else {
                throw ServiceError.badRequest("the type has no field that is marked searchable")
            }
        } else {
            fields = [
                try QueryField(fieldName: filter.fieldName, systemFieldName: filter.systemFieldName, in: type)
            ]
            guard fields[0].indexes.contains(.searchable) else {
                throw ServiceError.notMarked(fields[0], "searchable")
            }
        }
        guard let value = filter.fieldValue, let content = value.value else {
            throw ServiceError.badRequest("the filter of field '\(fields[0].shownName)' has no fieldValue")
        }
        guard case .string(let text) = content else { throw mismatch(fields[0], value) }
        let words = Words.of(text)
        guard !words.isEmpty else {
            throw ServiceError.badRequest("the filter of field '\(fields[0].shownName)' has no words")
        }
        return QueryCondition(
            fields: fields, test: .words(words, needsAll: comparator == .containsAllTokens), isNegated: false)
    }

    // MARK: - Values

    /// A value to compare with: bytes, or the name of a record in the referring record's zone.
    private enum Operand {
        case value([UInt8])
        case name(String)

        var bytes: [UInt8] {
            switch self {
            case .value(let bytes): bytes
            case .name(let name): OrderedBytes.text(name)
            }
        }
    }

    private func any(_ operands: [Operand]) -> QueryCondition.Test {
        let (names, values) = parted(operands)
        let ranges = values.map { ByteRange(only: $0) }.merged()
        return names.isEmpty ? .anyIn(ranges) : .names(names, orIn: ranges)
    }

    private func all(_ operands: [Operand]) -> QueryCondition.Test {
        let (names, values) = parted(operands)
        return names.isEmpty ? .all(values) : .allNames(names, and: values)
    }

    private func parted(_ operands: [Operand]) -> (names: [String], values: [[UInt8]]) {
        var (names, values): ([String], [[UInt8]]) = ([], [])
        for operand in operands {
            switch operand {
            case .name(let name): names.append(name)
            case .value(let bytes): values.append(bytes)
            }
        }
        return (names, values)
    }

    private func list(_ value: Field, _ field: QueryField) throws(WireError) -> [Operand] {
        guard case .list(let type, let values) = value.value else { throw mismatch(field, value) }
        guard values.count <= limits.queryValuesMax else {
            throw ServiceError.badRequest(
                "the filter of field '\(field.shownName)' has more than \(limits.queryValuesMax) values")
        }
        var operands: [Operand] = []
        for element in values {
            operands.append(
                try operand(element, isTyped: value.type != nil && type != .unknownList, field, value))
        }
        return operands
    }

    private func scalar(_ value: Field, _ field: QueryField) throws(WireError) -> Operand {
        guard let content = value.value else { throw mismatch(field, value) }
        return try operand(content, isTyped: value.type != nil, field, value)
    }

    /// The schema's type takes precedence over the type in the JSON, as it does when a record is saved.
    private func operand(
        _ content: FieldValue, isTyped: Bool, _ field: QueryField, _ value: Field
    ) throws(WireError) -> Operand {
        switch (field.elementType, content) {
        case (.string, .string(let text)): return .value(OrderedBytes.text(text))
        case (.int64, .int64(let number)): return .value(OrderedBytes.number(number))
        case (.double, .double(let number)): return .value(OrderedBytes.number(number))
        case (.double, .int64(let number)): return .value(OrderedBytes.number(Double(number)))
        case (.timestamp, .timestamp(let number)), (.timestamp, .int64(let number)):
            return .value(OrderedBytes.number(number))
        case (.int64, .double(let number)), (.timestamp, .double(let number)):
            guard let whole = Int64(exactly: number) else { throw mismatch(field, value) }
            return .value(OrderedBytes.number(whole))
        case (.int64, .string(let text)) where !isTyped, (.timestamp, .string(let text)) where !isTyped:
            guard let number = Int64(text) else { throw mismatch(field, value) }
            return .value(OrderedBytes.number(number))
        case (.double, .string(let text)) where !isTyped:
            guard let number = Double(text), number.isFinite else { throw mismatch(field, value) }
            return .value(OrderedBytes.number(number))
        case (.bytes, .bytes(let bytes)): return .value(bytes)
        case (.bytes, .string(let text)) where !isTyped:
            guard let bytes = Base64.decoded(text) else { throw mismatch(field, value) }
            return .value(bytes)
        case (.reference, .string(let name)) where field.isPlainName:
            return .value(OrderedBytes.text(ownName(name)))
        case (.reference, .reference(let reference)):
            if field.isPlainName { return .value(OrderedBytes.text(ownName(reference.recordName))) }
            guard reference.zoneID != nil else { return .name(reference.recordName) }
            let zone = reference.zone(from: ZoneKey(database: database, zoneName: ""))
            return .value(OrderedBytes.reference(name: reference.recordName, zone: zone))
        default: throw mismatch(field, value)
        }
    }

    private func ownName(_ name: String) -> String {
        name == ServiceCaller.ownName ? userRecordName ?? name : name
    }

    private func mismatch(_ field: QueryField, _ value: Field) -> WireError {
        let given = value.type ?? value.value?.type
        return ServiceError.badRequest(
            "field '\(field.shownName)' is of type \(field.type.rawValue), and can't be compared so with a "
                + "value of type "
                + "\(given?.rawValue ?? "unknown")")
    }
}

extension ServiceError {
    static func unknownRecordType(_ recordType: String) -> WireError {
        WireError(.notFound, reason: "Did not find record type: \(recordType)", ckErrorCode: 11)
    }

    static func notMarked(_ field: QueryField, _ mark: String) -> WireError {
        badRequest("Field '\(field.shownName)' is not marked \(mark)")
    }
}
