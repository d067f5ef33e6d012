/// One row that differs between two snapshots. Indexes are of the whole group as the view stores it, without a window
/// and not reversed.
struct ViewRowDelta<Group: Hashable & Sendable>: Sendable {
    struct Place: Hashable, Sendable {
        var group: Group
        var index: Int
    }

    var rowID: Int64
    /// Nil if the row wasn't in the view before.
    var original: Place?
    /// Nil if the row isn't in the view after.
    var final: Place?
    /// True if the row is in the same group at both snapshots and kept its sort position in between: it wasn't
    /// deleted and inserted, and got no new sort key.
    var keptPlace: Bool
    var flags: YapDatabaseViewRowChange.Flags
}
