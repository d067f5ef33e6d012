@testable import Yap

/// The rows that mappings show, computed row by row from the groups.
struct ViewModel {
    /// The shown part of a group, in the order in which it is shown.
    private struct Part {
        var rows: [String] = []
        var shown = 0..<0
    }

    let groups: [String]
    var isDynamic = true
    var ranges: [String: YapDatabaseViewRange] = [:]
    var reversed: Set<String> = []
    var threshold = 0
    private var parts: [String: Part] = [:]

    init(groups: [String]) { self.groups = groups }

    /// The keys of each section.
    var keys: [String] {
        let shown = groups.map { (parts[$0] ?? Part()) }.map { $0.rows[$0.shown].joined() }
        let present = shown.filter { !isDynamic || !$0.isEmpty }
        return present.joined().count < threshold ? (present.isEmpty ? [] : [present.joined()]) : present
    }

    /// Takes the groups' rows after a batch.
    ///
    /// - Parameter displaced: Keys that lost their places. Nil: every row is new.
    mutating func update(_ all: [String: [String]], displaced: Set<String>?) {
        for group in groups {
            let stored = all[group] ?? []
            let rows = reversed.contains(group) ? stored.reversed() : stored
            let old = parts[group] ?? Part()
            let kept = displaced.map { Set(rows).intersection(old.rows).subtracting($0) } ?? []
            parts[group] = Part(
                rows: rows, shown: Self.shown(rows, ranges[group] ?? .all, old: old, kept: kept))
        }
    }

    private static func shown(
        _ rows: [String], _ range: YapDatabaseViewRange, old: Part, kept: Set<String>
    ) -> Range<Int> {
        switch range {
        case .all: rows.indices
        case .first(let length): rows.prefix(length).indices
        case .last(let length): rows.suffix(length).indices
        case .window(let length, let offset, .beginning): rows.dropFirst(offset).prefix(length).indices
        case .window(let length, let offset, .end): rows.dropLast(offset).suffix(length).indices
        case .flexible(let length, let offset, let edge, let min, let max, let growth):
            limited(
                kept.isEmpty
                    ? shown(rows, .window(length: length, offset: offset, from: edge), old: old, kept: [])
                    : grown(
                        rows, old, kept, low: growth.contains(edge == .beginning ? .pinSide : .nonPinSide),
                        high: growth.contains(edge == .beginning ? .nonPinSide : .pinSide)),
                count: rows.count, edge, min: Swift.min(min, max), max: max)
        }
    }

    /// Walks from the kept rows of the range to both sides.
    private static func grown(
        _ rows: [String], _ old: Part, _ kept: Set<String>, low: Bool, high: Bool
    ) -> Range<Int> {
        let shown = old.rows[old.shown].filter(kept.contains)
        guard let first = shown.first, let last = shown.last,
            var lower = rows.firstIndex(of: first), var upper = rows.firstIndex(of: last).map({ $0 + 1 })
        else {
            let previous = old.rows[..<old.shown.lowerBound].last(where: kept.contains)
            let next = old.rows[old.shown.upperBound...].first(where: kept.contains)
            return
                (previous.flatMap(rows.firstIndex).map { $0 + 1 } ?? 0)..<(next.flatMap(rows.firstIndex)
                ?? rows.count)
        }
        while low, lower > 0, !kept.contains(rows[lower - 1]) { lower -= 1 }
        while high, upper < rows.count, !kept.contains(rows[upper]) { upper += 1 }
        return lower..<upper
    }

    private static func limited(
        _ shown: Range<Int>, count: Int, _ edge: YapDatabaseViewRange.Edge, min: Int, max: Int
    ) -> Range<Int> {
        var (lower, upper) = (shown.lowerBound, shown.upperBound)
        while upper - lower > max {
            if edge == .beginning { upper -= 1 } else { lower += 1 }
        }
        while upper - lower < Swift.min(min, count) {
            let takesLower = edge == .beginning ? lower > 0 : upper == count
            if takesLower { lower -= 1 } else { upper += 1 }
        }
        return lower..<upper
    }
}
