/// Maps the groups of a view to the sections of a list: which groups are shown in which order, and which rows of each.
///
/// ```swift
/// let mappings = YapDatabaseViewMappings.only(["inbox", "archive"])
///     .rows(.last(50), in: "archive")
///     .reversed("inbox")
/// ```
///
/// Mappings are a value: the configuration, and the state at one snapshot of the database. The configuration is chosen
/// with a static function and refined with the others, each of which returns a copy. A setting for all groups replaces
/// earlier ones for single groups.
public struct YapDatabaseViewMappings<Group: Hashable & Comparable & Sendable>: Sendable {
    /// Which groups are shown, and in which order.
    enum Selection: Sendable {
        case only([Group])
        case all(isShown: @Sendable (Group) -> Bool, isBefore: @Sendable (Group, Group) -> Bool)
    }

    let selection: Selection
    private(set) var isDynamic: ViewGroupSetting<Group, Bool>
    private(set) var isReversed = ViewGroupSetting<Group, Bool>(false)
    private(set) var windows = ViewGroupSetting<Group, ViewWindow>(ViewWindow(.all, isReversed: false))
    private(set) var dependentOffsets: [Int] = []
    private(set) var consolidation: (under: Int, as: Group)?

    /// Number of rows of each group at the snapshot.
    var counts: [Group: Int] = [:]
    /// Shown indexes of each group at the snapshot, also of groups that have no section.
    var indexes: [Group: Range<Int>] = [:]
    var layout = ViewLayout<Group>([], consolidation: nil)

    private init(_ selection: Selection, isDynamic: Bool) {
        self.selection = selection
        self.isDynamic = ViewGroupSetting(isDynamic)
        rebuild()
    }

    /// Shows every group that has rows, in ascending order.
    public static var sorted: Self { sorted { $0 < $1 } }

    /// Shows every group that has rows, in a custom order. Equal groups are in ascending order.
    public static func sorted(by isBefore: @escaping @Sendable (Group, Group) -> Bool) -> Self {
        Self(.all(isShown: { _ in true }, isBefore: isBefore), isDynamic: true)
    }

    /// Shows these groups in this order. An empty group keeps its section, unless it is dynamic.
    public static func only(_ groups: [Group]) -> Self {
        var seen: Set<Group> = []
        return Self(.only(groups.filter { seen.insert($0).inserted }), isDynamic: false)
    }

    /// Shows the groups that have rows and satisfy a condition, in ascending order.
    public static func `where`(_ isShown: @escaping @Sendable (Group) -> Bool) -> Self {
        self.where(isShown) { $0 < $1 }
    }

    /// Shows the groups that have rows and satisfy a condition, in a custom order.
    ///
    /// ```swift
    /// let mappings = YapDatabaseViewMappings<String>.where({ $0 != "trash" }, sortedBy: { $0 > $1 })
    /// ```
    ///
    /// - Parameters:
    ///   - isShown: Returns true if a group is shown.
    ///   - isBefore: Returns true if the first group is shown before the second. Equal groups are in ascending order.
    public static func `where`(
        _ isShown: @escaping @Sendable (Group) -> Bool,
        sortedBy isBefore: @escaping @Sendable (Group, Group) -> Bool
    ) -> Self {
        Self(.all(isShown: isShown, isBefore: isBefore), isDynamic: true)
    }

    /// Makes all groups dynamic: a section without rows disappears until it has rows again.
    public func dynamic() -> Self { with { $0.isDynamic = ViewGroupSetting(true) } }

    /// Makes some groups dynamic: their sections disappear while they have no rows.
    public func dynamic(_ groups: [Group]) -> Self {
        with { for group in groups { $0.isDynamic[group] = true } }
    }

    /// Shows a range of each group. In a group that is reversed already, the range counts rows in the shown order:
    /// the first row is the last row of the stored group.
    public func rows(_ range: YapDatabaseViewRange) -> Self {
        with { $0.setRange(range) }
    }

    /// Shows a range of one group. In a group that is reversed already, the range counts rows in the shown order: the
    /// first row is the last row of the stored group.
    public func rows(_ range: YapDatabaseViewRange, in group: Group) -> Self {
        with { $0.setRange(range, in: group) }
    }

    /// Shows the rows of each group from last to first. A range that was set before keeps its rows.
    public func reversed() -> Self { with { $0.isReversed = ViewGroupSetting(true) } }

    /// Shows the rows of one group from last to first. A range that was set before keeps its rows.
    public func reversed(_ group: Group) -> Self { with { $0.isReversed[group] = true } }

    /// Declares rows that depend on a neighbour for their drawing, so that they are reported when the neighbour
    /// changes.
    ///
    /// With the offset 1, the row after each changed, inserted, deleted or moved row is reported with the flag
    /// `dependency`: for example, a message that shows the time since the message above it.
    ///
    /// - Parameter offsets: Offsets of the dependents from a row, in the order of the shown rows. Only shown rows of
    ///   the same section count as neighbours. 0 is ignored.
    public func dependents(at offsets: [Int]) -> Self {
        with { $0.dependentOffsets = offsets.filter { $0 != 0 } }
    }

    /// Shows all rows in one section while there are few of them.
    ///
    /// - Parameters:
    ///   - count: Number of shown rows from which each group has its own section.
    ///   - group: Name of the one section.
    public func consolidated(under count: Int, as group: Group) -> Self {
        with { $0.consolidation = (under: count, as: group) }
    }

    mutating func setRange(_ range: YapDatabaseViewRange) {
        windows = isReversed.map { ViewWindow(range, isReversed: $0) }
        indexes = [:]
    }

    mutating func setRange(_ range: YapDatabaseViewRange, in group: Group) {
        windows[group] = ViewWindow(range, isReversed: isReversed[group])
        indexes[group] = nil
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        copy.rebuild()
        return copy
    }
}
