import CloudStore

/// A position in the order of a query's results, as stored in a continuation marker.
struct QueryPosition: Hashable, Sendable {
    /// The bytes of the sort keys. Without a sort, the value in the index that is read.
    let keys: [[UInt8]]
    let recordName: String
    let zoneName: String
    /// For a query without a sort: the index that is read, and the part of it.
    var walk: QueryWalk?
}

extension QueryPosition {
    /// Returns the equivalent position in another zone.
    func moved(to zone: ZoneKey, _ order: QueryOrder) -> QueryPosition {
        guard zoneName != zone.zoneName else { return self }
        let isBehind = zone.zoneName.utf8.lexicographicallyPrecedes(zoneName.utf8)
        return QueryPosition(
            keys: keys, recordName: order.edge(atEnd: isBehind), zoneName: zone.zoneName, walk: walk)
    }
}

/// The index that a query without a sort reads in a zone, so that the next page continues in it.
struct QueryWalk: Hashable, Sendable {
    /// The condition that the index belongs to, or nil for the records' names.
    let condition: Int?
    /// Number of the condition's scan.
    let scan: Int
}

/// The order of results: by the sort keys, then by zone, then by name in the direction of the last key.
struct QueryOrder: Sendable {
    let isAscending: [Bool]

    init(_ keys: [QuerySortKey]) {
        isAscending = keys.map(\.isAscending)
    }

    /// The direction of names.
    var isAscendingLast: Bool { isAscending.last ?? true }

    /// Returns a name that sorts after all others, or before all others. Names are ASCII.
    func edge(atEnd: Bool) -> String { atEnd == isAscendingLast ? "\u{10FFFF}" : "" }

    func precedes(_ left: QueryPosition, _ right: QueryPosition) -> Bool {
        for (index, isAscending) in isAscending.enumerated() where left.keys[index] != right.keys[index] {
            return left.keys[index].lexicographicallyPrecedes(right.keys[index]) == isAscending
        }
        if left.zoneName != right.zoneName {
            return left.zoneName.utf8.lexicographicallyPrecedes(right.zoneName.utf8)
        }
        return left.recordName != right.recordName
            && left.recordName.utf8.lexicographicallyPrecedes(right.recordName.utf8) == isAscendingLast
    }
}

/// A record found by a query.
struct QueryFound {
    let position: QueryPosition
    let row: StoredRecord
}
