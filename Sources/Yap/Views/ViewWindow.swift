/// A range of a group in the order in which the view stores its rows.
struct ViewWindow: Hashable, Sendable {
    struct Flexibility: Hashable, Sendable {
        var min: Int
        var max: Int
        var growth: YapDatabaseViewRange.Growth
    }

    /// Number of rows. Nil for every row.
    private var length: Int?
    private var offset = 0
    private var edge = YapDatabaseViewRange.Edge.beginning
    /// Nil for a fixed range.
    private var flexibility: Flexibility?

    /// - Parameter isReversed: Whether the range counts from the group's last row.
    init(_ range: YapDatabaseViewRange, isReversed: Bool) {
        switch range {
        case .all: length = nil
        case .first(let count): length = count
        case .last(let count): (length, edge) = (count, .end)
        case .window(let length, let offset, let edge):
            (self.length, self.offset, self.edge) = (length, offset, edge)
        case .flexible(let length, let offset, let edge, let min, let max, let growth):
            (self.length, self.offset, self.edge) = (length, offset, edge)
            flexibility = Flexibility(min: min, max: Swift.max(0, max), growth: growth)
        }
        length = length.map { max(0, $0) }
        offset = max(0, offset)
        if isReversed { edge = edge == .beginning ? .end : .beginning }
    }

    /// Returns the initial indexes in a group of `count` rows.
    func initialIndexes(count: Int) -> Range<Int> {
        let length = length ?? count
        switch edge {
        case .beginning:
            let lower = min(offset, count)
            return limited(lower..<(lower + min(length, count - lower)), count: count)
        case .end:
            let upper = count - min(offset, count)
            return limited((upper - min(length, upper))..<upper, count: count)
        }
    }

    /// Returns the indexes after a change of the group.
    ///
    /// - Parameters:
    ///   - indexes: The indexes before.
    ///   - originalCount: Number of rows before.
    ///   - count: Number of rows after.
    func indexes(
        after indexes: Range<Int>, _ change: ViewGroupChange, originalCount: Int, count: Int
    ) -> Range<Int> {
        let keptCount = change.keptCount(ofOriginal: originalCount)
        guard let flexibility, keptCount > 0 else { return initialIndexes(count: count) }
        let kept = change.original.ranks(in: indexes)
        let growsAtEdge = kept.isEmpty || flexibility.growth.contains(.pinSide)
        let growsAway = kept.isEmpty || flexibility.growth.contains(.nonPinSide)
        let (growsLow, growsHigh) = edge == .beginning ? (growsAtEdge, growsAway) : (growsAway, growsAtEdge)
        let afterPrevious = { (rank: Int) in rank == 0 ? 0 : change.final.index(ofRank: rank - 1) + 1 }
        let beforeNext = { (rank: Int) in rank == keptCount ? count : change.final.index(ofRank: rank) }
        let lower = (growsLow ? afterPrevious : beforeNext)(kept.lowerBound)
        let upper = (growsHigh ? beforeNext : afterPrevious)(kept.upperBound)
        return limited(lower..<upper, count: count)
    }

    /// Cuts a flexible range to its maximum and extends it to its minimum.
    private func limited(_ indexes: Range<Int>, count: Int) -> Range<Int> {
        guard let flexibility else { return indexes }
        var (lower, upper) = (indexes.lowerBound, indexes.upperBound)
        let excess = max(0, indexes.count - flexibility.max)
        let missing = max(0, min(flexibility.min, flexibility.max, count) - indexes.count)
        switch edge {
        case .beginning:
            let atEdge = min(missing, lower)
            lower -= atEdge
            upper += missing - atEdge - excess
        case .end:
            let atEdge = min(missing, count - upper)
            upper += atEdge
            lower -= missing - atEdge - excess
        }
        return lower..<upper
    }
}
