import CloudStore
import CloudWire

/// A filter of a query, parsed and checked against the schema.
struct QueryCondition: Hashable, Sendable {
    /// The condition that a record must match, or must not match if it is negated.
    enum Test: Hashable, Sendable {
        /// The value or a list element is in one of the merged ranges.
        case anyIn([ByteRange])
        /// The list contains each of the values.
        case all([[UInt8]])
        /// The value or a list element is a reference to a record with one of these names in the referring
        /// record's zone, or is in one of the ranges.
        case names([String], orIn: [ByteRange])
        /// The list contains references to all of the names and contains all of the values.
        case allNames([String], and: [[UInt8]])
        /// The fields contain all of the words, or one of them.
        case words([String], needsAll: Bool)
        /// The place is within this distance in metres.
        case near(Place, metres: Double)
    }

    /// The field. Only a word condition has several.
    let fields: [QueryField]
    let test: Test
    /// True if the condition matches all other records, including those without a value, as `NSPredicate`
    /// defines it.
    let isNegated: Bool

    var field: QueryField { fields[0] }

    /// Returns the condition with names resolved, which mean another record in each zone.
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

    /// Number of index positions that a search by this condition reads first.
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

    /// Number of values that are searched individually in each record.
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

/// A sort key of a query.
struct QuerySortKey: Hashable, Sendable {
    let field: QueryField
    let isAscending: Bool
    /// The location to sort by distance from, or nil to sort by value.
    let place: Place?

    static let noValue: [UInt8] = [0]
    static let nowhere: [UInt8] = [2]
    /// Prefix of the bytes of each value, also in an index.
    static let valuePrefix: UInt8 = 1

    /// Returns the bytes by which records are sorted. Records without a value come first, but records without a
    /// place have the largest distance.
    func bytes(of subject: QuerySubject) -> [UInt8] {
        if let place {
            guard let there = subject.place(of: field) else { return Self.nowhere }
            return [Self.valuePrefix] + OrderedBytes.number(place.distance(to: there))
        }
        return Self.orderBytes(of: field, subject)
    }

    /// Returns the bytes in the sort index of a field.
    static func orderBytes(of field: QueryField, _ subject: QuerySubject) -> [UInt8] {
        guard let value = subject.value(of: field) else { return noValue }
        return [valuePrefix] + value.prefix(OrderedBytes.indexedBytesMax)
    }
}

/// A query, parsed and checked against the schema.
struct ResolvedQuery: Hashable, Sendable {
    let recordType: String
    let conditions: [QueryCondition]
    let sortKeys: [QuerySortKey]
    /// The type's searchable fields.
    let type: RecordType

    /// Rows charged for a record that is checked against all conditions.
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
