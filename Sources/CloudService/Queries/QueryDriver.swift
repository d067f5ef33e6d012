import CloudStore
import CloudWire

/// The index entries that include all records matching a condition.
struct QueryDriver {
    /// A part of an index.
    struct Part {
        let source: IndexScan.Source
        let range: ByteRange
    }

    /// Maximum cells of the earth to search for nearby places.
    static let cellsMax = 48

    /// The parts, in order.
    let parts: [Part]
    /// True if the records needn't be checked against the condition again.
    let isExact: Bool
    /// Reason that a record may have several entries in the parts.
    private let repeats: Repeats

    private enum Repeats {
        case never
        /// A list contains several of the values.
        case elements(QueryField)
        /// A text contains several of the words, given with their positions, or several fields contain one
        /// word.
        case words([String: Int], [QueryField])
    }

    /// Returns nil if no index can serve the condition, because it is negated or has no values.
    init?(_ condition: QueryCondition) {
        guard !condition.isNegated else { return nil }
        let field = condition.field
        switch condition.test {
        case .anyIn(let ranges):
            isExact = ranges.allSatisfy { $0.isExact } && !field.type.isList
            repeats = field.type.isList ? .elements(field) : .never
            parts = ranges.map { Part(source: Self.source(of: field), range: Self.stored($0, in: field)) }
        case .all(let values):
            // The entries of one value include all matches. The longest text is likely the rarest.
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

    /// True if a record may stand in the parts more than once.
    var mayRepeat: Bool { if case .never = repeats { false } else { true } }

    /// Returns the index that stores the values of a field.
    static func source(of field: QueryField) -> IndexScan.Source {
        field.system == .recordID ? .names : .entries(field: field.name, kind: IndexEntries.kind(of: field))
    }

    /// Returns a range of values in the index's form.
    static func stored(_ range: ByteRange, in field: QueryField) -> ByteRange {
        guard field.system != .recordID else { return range }
        let cut = range.cut(bytesMax: OrderedBytes.indexedBytesMax)
        return IndexEntries.kind(of: field) == .order ? cut.prefixed([QuerySortKey.valuePrefix]) : cut
    }

    /// Returns true if the entry is the record's first in these parts, so that each record is found once.
    ///
    /// The cost depends on the record's values, not on those in the query.
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

    /// Returns the first part that contains the value. Truncated ranges may touch, but they are in order.
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
    /// True if truncation doesn't change the set of values.
    var isExact: Bool {
        lower.count <= OrderedBytes.indexedBytesMax && upper?.count ?? 0 <= OrderedBytes.indexedBytesMax
    }
}
