/// A row's place in a view: its group, its sort key, and its rowid, which orders equal sort keys.
struct ViewEntry: Hashable, Sendable {
    var groupID: Int64
    var sort: [UInt8]
    var rowID: Int64
}

extension ViewEntry: Comparable {
    /// Orders as SQLite's index over the three.
    static func < (left: ViewEntry, right: ViewEntry) -> Bool {
        if left.groupID != right.groupID { return left.groupID < right.groupID }
        if left.sort != right.sort { return left.sort.lexicographicallyPrecedes(right.sort) }
        return left.rowID < right.rowID
    }
}
