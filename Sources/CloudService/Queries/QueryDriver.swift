import CloudStore
import CloudWire

/// The entries among which are all records that a condition holds for.
struct QueryDriver {
    /// A part of an index.
    struct Part {
        let source: IndexScan.Source
        let range: ByteRange
    }

    /// Parts of the earth in which what is near is looked for.
    static let cellsMax = 48

    /// In this order.
    let parts: [Part]
    /// True if a record of them needn't be held against the condition again.
    let isExact: Bool
    /// Why a record may stand in them more than once.
    private let repeats: Repeats

    private enum Repeats {
        case never
        /// A list has several of the values.
        case elements(QueryField)
        /// It has several of the words, given with their positions, or one word in several fields.
        case words([String: Int], [QueryField])
    }

    /// Nil when no index has what the condition holds for: it is negated, or names nothing.
    init?(_ condition: QueryCondition) {
        guard !condition.isNegated else { return nil }
        let field = condition.field
        switch condition.test {
        case .anyIn(let ranges):
            isExact = ranges.allSatisfy { $0.isExact } && !field.type.isList
            repeats = field.type.isList ? .elements(field) : .never
            parts = ranges.map { Part(source: Self.source(of: field), range: Self.stored($0, in: field)) }
        case .all(let values):
            // One of them leads to all; the longest text is likely the rarest.
            guard let value = values.max(by: { $0.count < $1.count }) else { return nil }
            isExact = values.count == 1 && value.count < OrderedBytes.indexedBytesMax
            repeats = .never
            parts = [
                Part(source: Self.source(of: field), range: Self.stored(ByteRange(only: value), in: field))
            ]
        case .words(let words, let needsAll):
            guard let rarest = words.max(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
            isExact = false
            let words = needsAll ? [rarest] : words
            repeats = .words(
                Dictionary(words.enumerated().map { ($1, $0) }) { first, _ in first }, condition.fields)
            parts = words.flatMap { word in
                condition.fields.map {
                    Part(
                        source: .entries(field: $0.name, kind: .word),
                        range: ByteRange(only: OrderedBytes.text(word)))
                }
            }
        case .near(let place, let metres):
            isExact = false
            repeats = .never
            parts = EarthCell.covering(place, outer: metres, cellsMax: Self.cellsMax).map {
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

    /// Returns true if an entry is the first of its record's in these parts: only then the record is found by it.
    ///
    /// Costs what the record has, however much the query names.
    func isFirst(_ value: [UInt8], inPart part: Int, of subject: QuerySubject) -> Bool {
        switch repeats {
        case .never: return true
        case .elements(let field):
            return !subject.elements(of: field).contains { element in
                let other = Array(element.prefix(OrderedBytes.indexedBytesMax))
                guard let index = self.part(of: other) else { return false }
                return index < part || index == part && other.lexicographicallyPrecedes(value)
            }
        case .words(let places, let fields):
            return !fields.enumerated().contains { offset, field in
                subject.words(of: field).contains { word in
                    places[word].map { $0 * fields.count + offset < part } ?? false
                }
            }
        }
    }

    /// The first part that has the value. Cut as they are the ranges may meet, but they are in order.
    private func part(of value: [UInt8]) -> Int? {
        var low = 0
        var high = parts.count
        while low < high {
            let middle = (low + high) / 2
            let isBehind = parts[middle].range.upper.map { !value.lexicographicallyPrecedes($0) } ?? false
            if isBehind { low = middle + 1 } else { high = middle }
        }
        return low < parts.count && parts[low].range.contains(value) ? low : nil
    }
}

extension ByteRange {
    /// True if it has the same values when these are cut.
    var isExact: Bool {
        lower.count <= OrderedBytes.indexedBytesMax && upper?.count ?? 0 <= OrderedBytes.indexedBytesMax
    }
}
