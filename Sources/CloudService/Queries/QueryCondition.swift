import CloudStore
import CloudWire

/// A filter of a query, read and checked against the schema.
struct QueryCondition: Hashable, Sendable {
    /// What a record must have, or when the condition is negated must not.
    enum Test: Hashable, Sendable {
        /// The value, or an element of the list, in one of the ranges, which are merged.
        case anyIn([ByteRange])
        /// Each of the values is an element of the list.
        case all([[UInt8]])
        /// A reference, or an element of a list of them, to a record of one of these names in the zone of the record
        /// that has it, or in one of the ranges.
        case names([String], orIn: [ByteRange])
        /// The same, but the list refers to each of the names, and has each of the values.
        case allNames([String], and: [[UInt8]])
        /// The words, in any of the fields: all of them, or one.
        case words([String], needsAll: Bool)
        /// A place that is so many metres away at most.
        case near(Place, metres: Double)
    }

    /// The field; more than one only for words.
    let fields: [QueryField]
    let test: Test
    /// Then the condition holds for all other records, also for those without a value: as `NSPredicate` has it.
    let isNegated: Bool

    var field: QueryField { fields[0] }

    /// The same without names that stand for another thing in each zone.
    func resolved(in zone: ZoneKey) -> QueryCondition {
        let test: Test
        switch self.test {
        case .names(let names, let ranges):
            test = .anyIn(
                (names.map { ByteRange(only: OrderedBytes.reference(name: $0, zone: zone)) } + ranges)
                    .merged())
        case .allNames(let names, let values):
            test = .all(names.map { OrderedBytes.reference(name: $0, zone: zone) } + values)
        case .anyIn, .all, .words, .near:
            return self
        }
        return QueryCondition(fields: fields, test: test, isNegated: isNegated)
    }

    /// Places in indexes that a search by this condition looks at before it begins.
    var probesCount: Int {
        guard !isNegated else { return 0 }
        return switch test {
        case .anyIn(let ranges): ranges.count
        case .names(let names, let ranges): names.count + ranges.count
        case .all, .allNames: 1
        case .words(let words, let needsAll): (needsAll ? 1 : words.count) * fields.count
        case .near: QueryDriver.cellsMax
        }
    }

    /// Values that are looked for one by one in each record.
    var valuesCount: Int {
        switch test {
        case .anyIn, .names, .near: 1
        case .all(let values): values.count
        case .allNames(let names, let values): names.count + values.count
        case .words(let words, _): words.count * fields.count
        }
    }

    func matches(_ subject: QuerySubject) -> Bool {
        holds(for: subject) != isNegated
    }

    private func holds(for subject: QuerySubject) -> Bool {
        switch test {
        case .anyIn(let ranges):
            if field.type.isList { return subject.elements(of: field).contains { ranges.haveRange(of: $0) } }
            return subject.value(of: field).map { ranges.haveRange(of: $0) } ?? false
        case .all(let values):
            guard subject.hasList(field) else { return false }
            let elements = subject.elementSet(of: field)
            return values.allSatisfy(elements.contains)
        case .names, .allNames:
            return resolved(in: subject.row.key.zone).holds(for: subject)
        case .words(let words, let needsAll):
            let found = fields.map { subject.words(of: $0) }
            func isFound(_ word: String) -> Bool { found.contains { $0.contains(word) } }
            return needsAll ? words.allSatisfy(isFound) : words.contains(where: isFound)
        case .near(let place, let metres):
            return subject.place(of: field).map { $0.distance(to: place) <= metres } ?? false
        }
    }
}

/// A key of a query's order.
struct QuerySortKey: Hashable, Sendable {
    let field: QueryField
    let isAscending: Bool
    /// The location to sort by distance from, or nil to sort by value.
    let place: Place?

    static let noValue: [UInt8] = [0]
    static let nowhere: [UInt8] = [2]
    /// Before each value's bytes, in an index too.
    static let valuePrefix: UInt8 = 1

    /// The bytes that order records: no value before all values, but a record that is nowhere lies farthest.
    func bytes(of subject: QuerySubject) -> [UInt8] {
        if let place {
            guard let there = subject.place(of: field) else { return Self.nowhere }
            return [Self.valuePrefix] + OrderedBytes.number(place.distance(to: there))
        }
        return Self.orderBytes(of: field, subject)
    }

    /// What stands in the index of a field for ordering.
    static func orderBytes(of field: QueryField, _ subject: QuerySubject) -> [UInt8] {
        guard let value = subject.value(of: field) else { return noValue }
        return [valuePrefix] + value.prefix(OrderedBytes.indexedBytesMax)
    }
}

/// A query, read and checked against the schema.
struct ResolvedQuery: Hashable, Sendable {
    let recordType: String
    let conditions: [QueryCondition]
    let sortKeys: [QuerySortKey]
    /// The type's fields that can be searched for words.
    let type: RecordType

    /// As how many rows a record counts that all conditions are asked about.
    let rowsOfRecord: Int

    func resolved(in zone: ZoneKey) -> ResolvedQuery {
        ResolvedQuery(
            recordType: recordType, conditions: conditions.map { $0.resolved(in: zone) }, sortKeys: sortKeys,
            type: type, rowsOfRecord: rowsOfRecord)
    }

    func matches(_ subject: QuerySubject) -> Bool {
        subject.row.recordType == recordType && !subject.row.isDeleted
            && conditions.allSatisfy { $0.matches(subject) }
    }
}
