import CloudWire
import Foundation
import System

/// A record as the naive evaluator sees it.
struct NaiveRecord {
    let zone: String
    let name: String
    var parent: String?
    var createdMilliseconds: Int64
    var fields: [String: FieldValue]
}

/// What a query means, looked up in each record: shares no code with the service.
struct NaiveQuery {
    let query: RecordQuery

    func results(_ records: [NaiveRecord]) -> [NaiveRecord] {
        records.filter { record in (query.filterBy ?? []).allSatisfy { holds($0, record) } }
            .sorted(by: precedes)
    }

    // MARK: - Filters

    private func holds(_ filter: RecordFilter, _ record: NaiveRecord) -> Bool {
        var comparator = filter.comparator
        let isNegated = comparator.hasPrefix("NOT_")
        if isNegated { comparator = String(comparator.dropFirst(4)) }
        return matches(comparator, filter, record) != isNegated
    }

    private func value(_ name: String, _ record: NaiveRecord) -> FieldValue? {
        switch name {
        case "recordName": .string(record.name)
        case "parent": record.parent.map { .string($0) }
        case "createdTimestamp": .timestamp(milliseconds: record.createdMilliseconds)
        default: record.fields[name]
        }
    }

    private func matches(_ comparator: String, _ filter: RecordFilter, _ record: NaiveRecord) -> Bool {
        let name = filter.fieldName ?? filter.systemFieldName ?? ""
        guard let wanted = filter.fieldValue?.value, let found = value(name, record) else { return false }
        let elements: [FieldValue] = if case .list(_, let elements) = found { elements } else { [found] }
        let wantedAll: [FieldValue] = if case .list(_, let elements) = wanted { elements } else { [wanted] }
        func isSame(_ left: FieldValue, _ right: FieldValue) -> Bool {
            compare(left, right, record) == .orderedSame
        }
        func begins(_ value: FieldValue) -> Bool {
            guard case .string(let text) = value, case .string(let prefix) = wanted else { return false }
            return Array(text.utf8).starts(with: Array(prefix.utf8))
        }
        switch comparator {
        case "EQUALS", "IN", "LIST_CONTAINS", "LIST_CONTAINS_ANY", "CONTAINS_ANY":
            return elements.contains { element in wantedAll.contains { isSame(element, $0) } }
        case "LIST_CONTAINS_ALL":
            return wantedAll.allSatisfy { wanted in elements.contains { isSame($0, wanted) } }
        case "LESS_THAN": return compare(found, wanted, record) == .orderedAscending
        case "LESS_THAN_OR_EQUALS": return compare(found, wanted, record) != .orderedDescending
        case "GREATER_THAN": return compare(found, wanted, record) == .orderedDescending
        case "GREATER_THAN_OR_EQUALS": return compare(found, wanted, record) != .orderedAscending
        case "BEGINS_WITH", "LIST_MEMBER_BEGINS_WITH": return elements.contains(where: begins)
        case "CONTAINS_ALL_TOKENS": return Set(words([wanted])).isSubset(of: words(elements))
        case "CONTAINS_ANY_TOKENS": return !Set(words([wanted])).isDisjoint(with: words(elements))
        case "NEAR": return distance(found, wanted).map { $0 <= filter.distanceMetres ?? 0 } ?? false
        default: return false
        }
    }

    private func words(_ values: [FieldValue]) -> Set<String> {
        var words = Set<String>()
        for case .string(let text) in values {
            words.formUnion(text.lowercased().components(separatedBy: CharacterSet.alphanumerics.inverted))
        }
        return words.subtracting([""])
    }

    private func compare(_ left: FieldValue, _ right: FieldValue, _ record: NaiveRecord) -> ComparisonResult {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
            left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
        }
        switch (left, right) {
        case (.string(let left), .string(let right)):
            let isBefore = left.utf8.lexicographicallyPrecedes(right.utf8)
            return isBefore
                ? .orderedAscending
                : Array(left.utf8) == Array(right.utf8) ? .orderedSame : .orderedDescending
        case (.int64(let left), .int64(let right)): return order(left, right)
        case (.double(let left), .double(let right)): return order(left, right)
        case (.timestamp(let left), .timestamp(let right)): return order(left, right)
        case (.reference(let left), .reference(let right)):
            let isSame =
                left.recordName == right.recordName
                && left.zoneID?.zoneName ?? record.zone == right.zoneID?.zoneName ?? record.zone
            return isSame ? .orderedSame : .orderedAscending
        case (.string(let name), .reference(let reference)): return order(name, reference.recordName)
        default: return .orderedAscending
        }
    }

    private func distance(_ left: FieldValue?, _ right: FieldValue?) -> Double? {
        guard case .location(let here) = left, case .location(let there) = right else { return nil }
        let radians = { (degrees: Double) in degrees * .pi / 180 }
        let across = pow(sin(radians(there.latitude - here.latitude) / 2), 2)
        let along = pow(sin(radians(there.longitude - here.longitude) / 2), 2)
        let part = across + cos(radians(here.latitude)) * cos(radians(there.latitude)) * along
        return 2 * 6_371_008.8 * asin(min(1, part.squareRoot()))
    }

    // MARK: - Order

    private func precedes(_ left: NaiveRecord, _ right: NaiveRecord) -> Bool {
        for sort in query.sortBy ?? [] {
            let order = self.order(left, right, by: sort)
            guard order != .orderedSame else { continue }
            return (order == .orderedAscending) == (sort.ascending ?? true)
        }
        if left.zone != right.zone { return left.zone < right.zone }
        return left.name != right.name && (left.name < right.name) == (query.sortBy?.last?.ascending ?? true)
    }

    private func order(_ left: NaiveRecord, _ right: NaiveRecord, by sort: RecordSort) -> ComparisonResult {
        let name = sort.fieldName ?? sort.systemFieldName ?? ""
        let (first, second) = (value(name, left), value(name, right))
        if let place = sort.relativeLocation?.value {
            let (near, far) = (distance(first, place) ?? .infinity, distance(second, place) ?? .infinity)
            return near < far ? .orderedAscending : near == far ? .orderedSame : .orderedDescending
        }
        switch (first, second) {
        case (nil, nil): return .orderedSame
        case (nil, _): return .orderedAscending
        case (_, nil): return .orderedDescending
        case (let first?, let second?): return compare(first, second, left)
        }
    }
}

/// Random records and queries over a few values, so that much is equal.
struct QueryChance {
    let random: any RandomSource

    func oneIn(_ count: Int) -> Bool { random.next(in: 0..<count) == 0 }
    func pick<Value>(_ values: [Value]) -> Value { values[random.next(in: 0..<values.count)] }

    static let texts = [
        "", "a", "ab", "Ab", "b", "ba", "red fox", "red", "the Red fox jumps", "fox, blue", "é", "z",
    ]
    static let zones = ["_defaultZone", "lists", "todos"]

    func text() -> FieldValue { .string(pick(Self.texts)) }
    func number() -> FieldValue { .int64(Int64(random.next(in: 0..<9)) - 4) }
    func part() -> FieldValue { .double(pick([-1e300, -2.5, -0.5, 0, 0.25, 1, 3, 1e10])) }
    func time() -> FieldValue { .timestamp(milliseconds: Int64(random.next(in: 0..<6)) * 1_000 - 2_000) }
    func link() -> FieldValue {
        .reference(
            Reference(
                recordName: pick(["x", "y"]), zoneID: oneIn(2) ? nil : ZoneID(zoneName: pick(Self.zones)),
                action: Reference.Action.none))
    }
    func place() -> FieldValue {
        let places: [(Double, Double)] = [
            (52.52, 13.4), (52.53, 13.41), (48.85, 2.35), (-33.86, 151.2), (89.9, 0), (89.9, 180),
            (0, 179.99),
            (0, -179.99), (52.52, 13.4001),
        ]
        let (latitude, longitude) = pick(places)
        return .location(Location(latitude: latitude, longitude: longitude))
    }
    func list(_ type: FieldType, _ make: () -> FieldValue) -> FieldValue {
        .list(type, (0..<random.next(in: 0..<4)).map { _ in make() })
    }

    func value(of field: String) -> FieldValue {
        switch field {
        case "text": text()
        case "number": number()
        case "part": part()
        case "time": time()
        case "link": link()
        case "place": place()
        case "tags": list(.stringList, text)
        case "numbers": list(.int64List, number)
        default: list(.referenceList, link)
        }
    }

    static let fields = ["text", "number", "part", "time", "link", "place", "tags", "numbers", "links"]

    /// Fields of a record in `zone`: it can only refer to others there.
    func fields(in zone: String) -> [String: FieldValue] {
        func local(_ value: FieldValue) -> FieldValue {
            switch value {
            case .reference(var reference):
                reference.zoneID = reference.zoneID.map { _ in ZoneID(zoneName: zone) }
                return .reference(reference)
            case .list(let type, let elements): return .list(type, elements.map(local))
            default: return value
            }
        }
        var fields: [String: FieldValue] = [:]
        for field in Self.fields where !oneIn(5) { fields[field] = local(value(of: field)) }
        return fields
    }

    func filter() -> RecordFilter {
        let field = pick(Self.fields + ["recordName", "parent", "createdTimestamp"])
        let ranges = ["LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS"]
        let lists = ["IN", "NOT_IN", "CONTAINS_ANY"]
        var comparators = ["EQUALS", "NOT_EQUALS"]
        switch field {
        case "number", "part", "time", "createdTimestamp": comparators += ranges + lists
        case "text":
            comparators += ranges + lists + ["BEGINS_WITH", "NOT_BEGINS_WITH"]
            comparators += ["CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS"]
        case "place": comparators = ["NEAR"]
        case "tags", "numbers", "links":
            comparators = [
                "LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ANY", "NOT_LIST_CONTAINS_ANY",
                "LIST_CONTAINS_ALL",
                "NOT_LIST_CONTAINS_ALL", "CONTAINS_ANY",
            ]
            if field == "tags" {
                comparators += [
                    "LIST_MEMBER_BEGINS_WITH", "NOT_LIST_MEMBER_BEGINS_WITH", "CONTAINS_ANY_TOKENS",
                ]
            }
        default: comparators += field == "link" ? lists : []
        }
        let comparator = pick(comparators)
        var filter = RecordFilter(comparator: comparator)
        if ["recordName", "parent", "createdTimestamp"].contains(field) {
            filter.systemFieldName = field
        } else {
            filter.fieldName = field
        }
        filter.fieldValue = Field(operand(field, comparator))
        if comparator == "NEAR" { filter.distanceMetres = pick([0, 10, 2_000, 1_000_000, 20_100_000]) }
        return filter
    }

    private func operand(_ field: String, _ comparator: String) -> FieldValue {
        let element: () -> FieldValue = {
            switch field {
            case "tags": text()
            case "numbers": number()
            case "links": link()
            case "recordName": .reference(Reference(recordName: "r\(random.next(in: 0..<99))"))
            case "parent": .reference(Reference(recordName: pick(["p", "q"])))
            case "createdTimestamp": .timestamp(milliseconds: Int64(random.next(in: 0..<10)) * 1_000)
            default: value(of: field)
            }
        }
        if comparator.hasSuffix("TOKENS") {
            return .string(pick(["red", "fox red", "blue", "Fox jumps the"]))
        }
        if comparator.hasSuffix("BEGINS_WITH") { return .string(pick(["", "a", "re", "the"])) }
        let takesList =
            ["IN", "NOT_IN", "CONTAINS_ANY"].contains(comparator)
            || comparator.hasSuffix("_ANY") || comparator.hasSuffix("_ALL")
        guard takesList else { return element() }
        let values = (0..<random.next(in: 0..<4)).map { _ in element() }
        return .list(values.first?.type.listType ?? .unknownList, values)
    }

    func sort() -> RecordSort {
        let field = pick(["text", "number", "part", "time", "place", "recordName", "createdTimestamp"])
        var sort = RecordSort(ascending: oneIn(3) ? nil : oneIn(2))
        if field == "recordName" || field == "createdTimestamp" {
            sort.systemFieldName = field
        } else {
            sort.fieldName = field
        }
        if field == "place" { sort.relativeLocation = Field(place()) }
        return sort
    }

    func query() -> RecordQuery {
        var query = RecordQuery(recordType: "todo")
        if !oneIn(5) { query.filterBy = (0..<pick([1, 1, 2, 3])).map { _ in filter() } }
        if !oneIn(3) { query.sortBy = (0..<pick([1, 1, 2, 3])).map { _ in sort() } }
        return query
    }
}
