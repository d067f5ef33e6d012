/// A range of a group's rows to show.
///
/// A range follows the group as rows are inserted and deleted. A fixed range (`first`, `last`, `window`) keeps its
/// length and its distance from one end of the group. A flexible range keeps its rows: it grows by rows that are
/// inserted into it and shrinks by rows that are deleted from it. Negative lengths and offsets count as 0.
public enum YapDatabaseViewRange: Hashable, Sendable {
    /// Every row. The default.
    case all
    /// The first rows, up to a number.
    case first(Int)
    /// The last rows, up to a number.
    case last(Int)
    /// Up to `length` rows, `offset` rows away from one end of the group.
    case window(length: Int, offset: Int, from: Edge)
    /// Initially up to `length` rows, `offset` rows away from one end of the group; later as many as the range has
    /// grown or shrunk to.
    ///
    /// - `from`: the end that the range is pinned to.
    /// - `min`: minimum rows to show if the group has that many. A shorter range is extended towards the pinned end
    ///   first.
    /// - `max`: maximum rows to show. A longer range is cut at the side away from the pinned end.
    /// - `growing`: sides at which the range includes rows that are inserted directly beside it.
    ///
    /// A range without rows grows on both sides. If no row of the group keeps its place, the range starts again with
    /// its `length` and `offset`.
    case flexible(
        length: Int, offset: Int = 0, from: Edge = .beginning, min: Int = 0, max: Int = .max,
        growing: Growth = .pinSide)

    /// An end of a group.
    public enum Edge: Hashable, Sendable {
        /// The end with the first row.
        case beginning
        /// The end with the last row.
        case end
    }

    /// Sides at which a flexible range includes rows that are inserted directly beside it.
    public struct Growth: OptionSet, Hashable, Sendable {
        /// The sides, as bits.
        public let rawValue: Int

        /// Creates a set of sides from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The side of the end that the range is pinned to.
        public static let pinSide = Growth(rawValue: 1)
        /// The side away from the end that the range is pinned to.
        public static let nonPinSide = Growth(rawValue: 2)
        /// Both sides.
        public static let bothSides: Growth = [.pinSide, .nonPinSide]
        /// No side: the range grows only by rows inserted between two of its rows.
        public static let inRangeOnly: Growth = []
    }
}
