import CloudWire
import System

/// Queries that mostly fit the schema, about values that records have.
extension ModelGenerator {
    func query(_ model: ModelCloud, _ scope: DatabaseScope, _ user: String?) -> RecordsQueryRequest {
        let type = chance(90) ? "todo" : pick(["note", "nothing"])
        var query = RecordQuery(recordType: type)
        if chance(70) {
            query.filterBy = (0..<pick([1, 1, 2])).map { _ in filter(type, model, scope, user) }
        }
        if chance(60) { query.sortBy = (0..<pick([1, 1, 2])).map { _ in sort(type, model) } }
        var request = RecordsQueryRequest(query: query)
        if scope == .private, chance(70) {
            request.zoneID = ZoneID(zoneName: pick(["todos", "todos", "notes"]))
        }
        if chance(5) { request.zoneID = ZoneID(zoneName: pick(Self.zones), ownerRecordName: "_bob") }
        if chance(40) { request.zoneWide = true }
        if chance(60) { request.resultsLimit = Int64(random.next(in: chance(3) ? 0..<1 : 1..<5)) }
        if chance(60) { request.desiredKeys = desiredKeys() }
        return request
    }

    private func fieldNames(_ type: String, _ model: ModelCloud) -> [String] {
        let known = (model.schema.types[type] ?? [:]).filter { !$0.value.indexes.isEmpty }.keys.sorted()
        return known.isEmpty || chance(5) ? ["n", "secret", "new\(random.next(in: 0..<9))"] : known
    }

    private func sort(_ type: String, _ model: ModelCloud) -> RecordSort {
        let ascending: Bool? = pick([nil, true, false])
        if chance(10) { return RecordSort(systemFieldName: "recordName", ascending: ascending) }
        // References and bytes have an order, but none that means anything.
        let names = fieldNames(type, model).filter { name in
            let kind = model.schema.types[type]?[name]
            return kind.map { [.int64, .double, .timestamp, .string].contains($0.type) } ?? true
        }
        let sortable = names.filter { model.schema.types[type]?[$0]?.indexes.contains(.sortable) == true }
        let name = pick(sortable.isEmpty ? names + ["n"] : sortable)
        return RecordSort(fieldName: name, ascending: ascending)
    }

    private func filter(
        _ type: String, _ model: ModelCloud, _ scope: DatabaseScope, _ user: String?
    ) -> RecordFilter {
        if chance(10) {
            let parent = FieldValue.reference(Reference(recordName: "r\(random.next(in: 0..<namesCount))"))
            return RecordFilter(
                comparator: pick(["EQUALS", "NOT_EQUALS"]), systemFieldName: pick(["parent", "recordName"]),
                fieldValue: Field(parent))
        }
        let name = pick(fieldNames(type, model))
        guard let kind = model.schema.types[type]?[name], !ModelSchema.possible(kind.type).isEmpty,
            !kind.isEncrypted
        else {
            // A place is nothing that any field of the model has: whatever comes meanwhile, it is refused.
            return RecordFilter(
                comparator: "EQUALS", fieldName: name,
                fieldValue: Field(.location(Location(latitude: 1, longitude: 1))))
        }
        let comparator = pick(Self.comparators(of: kind.type))
        return RecordFilter(
            comparator: comparator, fieldName: name,
            fieldValue: Field(operand(comparator, name, kind.type, model, scope, user)))
    }

    private static func comparators(of type: FieldType) -> [String] {
        let equality = ["EQUALS", "NOT_EQUALS", "IN", "NOT_IN"]
        let order = ["LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS"]
        let lists = [
            "LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ANY", "NOT_LIST_CONTAINS_ANY",
            "LIST_CONTAINS_ALL", "NOT_LIST_CONTAINS_ALL",
        ]
        switch type {
        case .string:
            return equality + order + ["BEGINS_WITH", "NOT_BEGINS_WITH", "CONTAINS_ALL_TOKENS"]
        case .int64, .double, .timestamp: return equality + order
        case .stringList: return lists + ["LIST_MEMBER_BEGINS_WITH", "CONTAINS_ANY_TOKENS"]
        case .referenceList: return lists
        default: return equality
        }
    }

    private func operand(
        _ comparator: String, _ field: String, _ type: FieldType, _ model: ModelCloud, _ scope: DatabaseScope,
        _ user: String?
    ) -> FieldValue {
        if comparator.hasSuffix("TOKENS") { return .string(pick(["a", "x y", "7"])) }
        let element = type.elementType ?? type
        let zones = model.databases[scope == .public ? "" : "_\(user ?? "")"]?.zones ?? [:]
        let records = zones.sorted { $0.key < $1.key }.flatMap { zone in
            zone.value.records.sorted { $0.key < $1.key }.map(\.value)
        }
        let there = records.compactMap { $0.fields[field]?.value }.flatMap { value in
            if case .list(_, let elements) = value { elements } else { [value] }
        }.filter { $0.type == element }
        let value = { there.isEmpty || chance(20) ? anyValue(element) : pick(there) }
        guard comparator.hasSuffix("IN") || comparator.hasSuffix("_ANY") || comparator.hasSuffix("_ALL")
        else {
            return value()
        }
        return .list(element.listType ?? .unknownList, (0..<random.next(in: 1..<4)).map { _ in value() })
    }

    private func anyValue(_ type: FieldType) -> FieldValue {
        switch type {
        case .int64: .int64(Int64(random.next(in: -5..<100)))
        case .double: .double(Double(random.next(in: 0..<100)) / 8)
        case .timestamp: .timestamp(milliseconds: Int64(random.next(in: -9..<9)))
        case .bytes: .bytes([1, 2])
        case .reference: .reference(Reference(recordName: "r\(random.next(in: 0..<namesCount))"))
        default: .string(pick(["", "a", "x", "é\u{1F600}"]))
        }
    }
}
