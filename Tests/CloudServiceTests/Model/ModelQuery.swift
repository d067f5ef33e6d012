import CloudWire

/// `records/query`: each record held against the query by the naive evaluator.
extension ModelCloud {
    /// All results of a query, page after page. `refusal` is what the service answered instead: a word for patience is
    /// right while an index that the query needs may be unfinished.
    func query(_ request: RecordsQueryRequest, _ caller: ModelCaller, refusal: WireError?) -> ModelAnswer {
        if request.resultsLimit ?? 1 <= 0 { return .refused(.badRequest, 12) }
        guard let zones = zones(of: request, caller) else { return .refused(.zoneNotFound, 26) }
        guard let query = request.query, let type = query.recordType, schema.types[type] != nil else {
            return .refused(.notFound, 11)
        }
        guard isAnswerable(query, type) else { return .refused(.badRequest, 12) }
        let isOpen = schema.permissions(type, creator: nil, caller).contains(.read)
        guard isOpen || schema.permissions(type, creator: caller.user, caller).contains(.read) else {
            return .refused(.accessDenied, 10)
        }
        if let refusal, refusal.serverErrorCode == .tryAgainLater,
            !unfinished[type, default: []].isDisjoint(with: fieldNames(of: query))
        {
            return .refused(.tryAgainLater, 6)
        }
        var found: [String: Record] = [:]
        var candidates: [NaiveRecord] = []
        for zone in zones {
            for record in (self.zone(zone, caller)?.records ?? [:]).values
            where record.type == type && may(.read, record, caller) {
                found["\(zone)/\(record.name)"] = record
                candidates.append(
                    NaiveRecord(
                        zone: zone, name: record.name, parent: record.parent,
                        createdMilliseconds: record.created.timestampMilliseconds,
                        fields: record.fields.compactMapValues(\.value)))
            }
        }
        return .records(
            NaiveQuery(query: query).results(candidates).compactMap { result in
                found["\(result.zone)/\(result.name)"].map {
                    .record(wire($0, in: result.zone, caller, desired: request.desiredKeys))
                }
            })
    }

    /// How many records there are of each type.
    func recordCounts() -> [String: Int] {
        let zones = databases.values.flatMap(\.zones.values)
        return zones.flatMap(\.records.values).reduce(into: [:]) { $0[$1.type, default: 0] += 1 }
    }

    /// A field that came to a type with many records has no index for them yet.
    mutating func noteNewFields(since before: ModelSchema, _ counts: [String: Int]) {
        let after = recordCounts()
        for (type, fields) in schema.types where fields != before.types[type] {
            // A new type's records are found by their parent too.
            for name in fields.keys + ["parent"] where before.types[type]?[name] == nil {
                noteNewIndex(of: name, type, recordsCount: max(counts[type] ?? 0, after[type] ?? 0))
            }
        }
    }

    /// The work is done at once when there are few records.
    mutating func noteNewIndex(of field: String, _ type: String, recordsCount: Int) {
        let isLeft = recordsCount >= limits.indexedAtOnce || unfinished[type]?.isEmpty == false
        if isLeft { unfinished[type, default: []].insert(field) }
    }

    private func zones(of request: RecordsQueryRequest, _ caller: ModelCaller) -> [String]? {
        guard let database = caller.database else { return nil }
        if request.zoneWide == true, request.zoneID == nil, caller.scope == .private {
            let custom = databases[database]?.zones.filter { $0.value.isThere }.map(\.key) ?? []
            return Set(custom + ["_defaultZone"]).sorted()
        }
        guard let name = caller.zoneName(request.zoneID), zone(name, caller) != nil else { return nil }
        return [name]
    }

    private func fieldNames(of query: RecordQuery) -> Set<String> {
        let filters = (query.filterBy ?? []).compactMap { $0.fieldName ?? $0.systemFieldName }
        return Set(filters + (query.sortBy ?? []).compactMap(\.fieldName))
    }

    private func isAnswerable(_ query: RecordQuery, _ type: String) -> Bool {
        let filters = query.filterBy ?? []
        let sorts = query.sortBy ?? []
        if filters.isEmpty && sorts.isEmpty {
            return indexes(nil, "recordName", type).contains(.queryable)
        }
        return sorts.allSatisfy { indexes($0.fieldName, $0.systemFieldName, type).contains(.sortable) }
            && filters.allSatisfy { filter in
                let wanted: ModelSchema.Index =
                    filter.comparator.hasSuffix("TOKENS") ? .searchable : .queryable
                return indexes(filter.fieldName, filter.systemFieldName, type).contains(wanted)
                    && fits(filter, type)
            }
    }

    private func indexes(_ field: String?, _ system: String?, _ type: String) -> Set<ModelSchema.Index> {
        if let field { return schema.types[type]?[field]?.indexes ?? [] }
        return system == "parent" ? [.queryable] : schema.systemIndexes[type]?[system ?? ""] ?? [.queryable]
    }

    /// Whether a filter compares a field with a value of its type.
    private func fits(_ filter: RecordFilter, _ type: String) -> Bool {
        guard let name = filter.fieldName, let kind = schema.types[type]?[name],
            let value = filter.fieldValue?.value
        else { return true }
        if filter.comparator.hasSuffix("TOKENS") { return value.type == .string }
        if case .list(_, let elements) = value {
            return elements.allSatisfy { $0.type == kind.type.elementType ?? kind.type }
        }
        return value.type == kind.type.elementType ?? kind.type
    }
}

extension ModelSchema {
    /// The indexes that a field of a type can have: what a save in development makes.
    static func possible(_ type: FieldType) -> Set<Index> {
        switch type {
        case .string: [.queryable, .sortable, .searchable]
        case .stringList: [.queryable, .searchable]
        case .int64, .double, .timestamp, .reference, .bytes: [.queryable, .sortable]
        case .referenceList: [.queryable]
        default: []
        }
    }
}
