import CloudStore
import CloudWire

/// The entries among which are all records that a condition holds for.
struct QueryDriver {
    /// A part of an index.
    struct Part {
        let source: IndexScan.Source
        let range: ByteRange
    }

    /// In this order.
    let parts: [Part]
    /// Whether a record of them needn't be held against the condition again.
    let isExact: Bool
    /// Whether a record may stand in them more than once.
    let mayRepeat: Bool

    /// Nil when no index has what the condition holds for: it is negated, or names nothing.
    init?(_ condition: QueryCondition) {
        guard !condition.isNegated else { return nil }
        let field = condition.field
        switch condition.test {
        case .anyIn(let ranges):
            isExact = ranges.allSatisfy { $0.isExact } && !field.type.isList
            mayRepeat = field.type.isList
            parts = ranges.map { Part(source: Self.source(of: field), range: Self.stored($0, in: field)) }
        case .all(let values):
            // One of them leads to all; the longest text is likely the rarest.
            guard let value = values.max(by: { $0.count < $1.count }) else { return nil }
            isExact = values.count == 1 && value.count < OrderedBytes.indexedBytesMax
            mayRepeat = false
            parts = [
                Part(source: Self.source(of: field), range: Self.stored(ByteRange(only: value), in: field))
            ]
        case .words(let words, let needsAll):
            guard let rarest = words.max(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
            isExact = false
            mayRepeat = true
            parts = (needsAll ? [rarest] : words).flatMap { word in
                condition.fields.map {
                    Part(
                        source: .entries(field: $0.name, kind: .word),
                        range: ByteRange(only: OrderedBytes.text(word)))
                }
            }
        case .near(let place, let metres):
            isExact = false
            mayRepeat = false
            parts = EarthCell.covering(place, outer: metres, cellsMax: 48).map {
                Part(source: Self.source(of: field), range: $0)
            }
        case .names, .allNames:
            return nil
        }
    }

    /// The index in which the values of a field stand.
    static func source(of field: QueryField) -> IndexScan.Source {
        field.system == .recordID ? .names : .entries(field: field.name, kind: IndexEntries.kind(of: field))
    }

    /// A range of values as the index has them.
    static func stored(_ range: ByteRange, in field: QueryField) -> ByteRange {
        guard field.system != .recordID else { return range }
        let cut = range.cut(bytesMax: OrderedBytes.indexedBytesMax)
        return IndexEntries.kind(of: field) == .order ? cut.prefixed([QuerySortKey.valuePrefix]) : cut
    }

    /// Whether an entry is the first of its record's in these parts: only then the record is found by it.
    func isFirst(_ value: [UInt8], inPart part: Int, of subject: QuerySubject, _ condition: QueryCondition)
        -> Bool
    {
        guard mayRepeat else { return true }
        for (index, earlier) in parts[...part].enumerated() {
            for other in Self.values(of: subject, in: earlier.source, condition)
            where earlier.range.contains(other) {
                if index < part || other.lexicographicallyPrecedes(value) { return false }
            }
        }
        return true
    }

    private static func values(
        of subject: QuerySubject, in source: IndexScan.Source, _ condition: QueryCondition
    ) -> [[UInt8]] {
        guard case .entries(let name, let kind) = source,
            let field = condition.fields.first(where: { $0.name == name })
        else { return [] }
        return kind == .word
            ? subject.words(of: field).map(OrderedBytes.text)
            : subject.elements(of: field).map { Array($0.prefix(OrderedBytes.indexedBytesMax)) }
    }
}

extension ByteRange {
    /// Whether it has the same values when these are cut.
    var isExact: Bool {
        lower.count <= OrderedBytes.indexedBytesMax && upper?.count ?? 0 <= OrderedBytes.indexedBytesMax
    }
}
