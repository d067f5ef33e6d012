/// A section that appeared or disappeared between two states of mappings.
public enum YapDatabaseViewSectionChange<Group: Hashable & Sendable>: Hashable, Sendable {
    /// The section disappeared. The index is from the mappings before.
    case delete(section: Int, group: Group)
    /// The section appeared. The index is from the mappings after.
    case insert(section: Int, group: Group)
}

/// A row that differs between two states of mappings. Each row has at most one change.
public struct YapDatabaseViewRowChange: Hashable, Sendable {
    /// Kind of a change.
    public enum Kind: Hashable, Sendable {
        /// The row is shown now and wasn't before.
        case insert
        /// The row was shown before and isn't now.
        case delete
        /// The row is shown at another path, or lost its place in between, or its section was replaced.
        case move
        /// The row kept its place, at the same path before and after, and must be drawn again.
        case update
    }

    /// Reasons to draw a row again.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The reasons, as bits.
        public let rawValue: Int

        /// Creates a set of reasons from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The object changed.
        public static let object = Flags(rawValue: 1)
        /// The metadata changed.
        public static let metadata = Flags(rawValue: 2)
        /// A neighbour changed, and the mappings declare the row its dependent.
        public static let dependency = Flags(rawValue: 4)
    }

    /// Kind of the change.
    public let kind: Kind
    /// Path before all changes. Nil for an insert.
    public let original: YapDatabaseViewPath?
    /// Path after all changes. Nil for a delete.
    public let final: YapDatabaseViewPath?
    /// Reasons to draw the row again. Empty if only its position changed.
    public internal(set) var flags: Flags
    /// The row in the database. Nil if the row itself didn't change: it entered or left a range, or its neighbour or
    /// section changed.
    public let rowID: Int64?

    /// Creates a change.
    public init(
        kind: Kind, original: YapDatabaseViewPath?, final: YapDatabaseViewPath?, flags: Flags = [],
        rowID: Int64? = nil
    ) {
        self.kind = kind
        self.original = original
        self.final = final
        self.flags = flags
        self.rowID = rowID
    }
}

extension [YapDatabaseViewRowChange] {
    /// The order of reports: deletes by descending original path, inserts by ascending final path, then moves and
    /// updates by ascending final path.
    func inReportOrder() -> Self {
        let byKind = Dictionary(grouping: self, by: \.kind)
        let byFinal = { (kind: Element.Kind) in
            (byKind[kind] ?? []).sorted { Self.isBefore($0.final, $1.final) }
        }
        let deletes = (byKind[.delete] ?? []).sorted { Self.isBefore($1.original, $0.original) }
        return deletes + byFinal(.insert) + byFinal(.move) + byFinal(.update)
    }

    private static func isBefore(_ left: YapDatabaseViewPath?, _ right: YapDatabaseViewPath?) -> Bool {
        guard let left, let right else { return false }
        return left < right
    }
}
