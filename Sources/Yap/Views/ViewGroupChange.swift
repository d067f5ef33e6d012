/// Indexes of the rows of a group that keep their places, at one snapshot. Their ranks number them from 0.
struct ViewKeptIndexes: Sendable {
    /// Indexes of the other rows, ascending.
    private let others: [Int]

    init(except others: [Int]) { self.others = others.sorted() }

    var othersCount: Int { others.count }

    /// Returns the number of kept rows before an index.
    func rank(of index: Int) -> Int {
        index - partitioningIndex(below: others.count) { others[$0] < index }
    }

    /// Returns the index of a kept row.
    func index(ofRank rank: Int) -> Int {
        rank + partitioningIndex(below: others.count) { others[$0] - $0 <= rank }
    }

    /// Returns the ranks of the kept rows in a range of indexes.
    func ranks(in range: Range<Int>) -> Range<Int> { rank(of: range.lowerBound)..<rank(of: range.upperBound) }
}

/// Change of a group between two snapshots.
///
/// Rows that keep their places keep their order: the kept row of a rank before is the kept row of that rank after.
struct ViewGroupChange: Sendable {
    /// Kept rows by their indexes before.
    let original: ViewKeptIndexes
    /// Kept rows by their indexes after.
    let final: ViewKeptIndexes

    static let none = ViewGroupChange(removed: [], inserted: [])

    init(removed: [Int], inserted: [Int]) {
        original = ViewKeptIndexes(except: removed)
        final = ViewKeptIndexes(except: inserted)
    }

    /// Returns the change of each group in the deltas.
    static func byGroup<Group>(_ deltas: [ViewRowDelta<Group>]) -> [Group: ViewGroupChange] {
        var removed: [Group: [Int]] = [:]
        var inserted: [Group: [Int]] = [:]
        for delta in deltas where !delta.keptPlace {
            if let original = delta.original { removed[original.group, default: []].append(original.index) }
            if let final = delta.final { inserted[final.group, default: []].append(final.index) }
        }
        return Set(removed.keys).union(inserted.keys).reduce(into: [:]) { changes, group in
            changes[group] = ViewGroupChange(removed: removed[group] ?? [], inserted: inserted[group] ?? [])
        }
    }

    /// True if a group with `originalCount` rows has `count` rows after the change.
    func leads(from originalCount: Int, to count: Int) -> Bool {
        originalCount - original.othersCount == count - final.othersCount
    }

    /// Returns the number of kept rows of a group with `count` rows before.
    func keptCount(ofOriginal count: Int) -> Int { count - original.othersCount }
}
