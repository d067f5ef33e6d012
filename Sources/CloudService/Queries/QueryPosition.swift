import CloudStore

/// A place in the order of a query's results: what stands in a continuation marker.
struct QueryPosition: Hashable, Sendable {
    /// The bytes of the sort keys; without a sort, the value in the index that is walked.
    let keys: [[UInt8]]
    let recordName: String
    let zoneName: String
    /// Without a sort: which index is walked, and which part of it.
    var walk: QueryWalk?
}

extension QueryPosition {
    /// The same place as it is in another zone.
    func moved(to zone: ZoneKey, _ order: QueryOrder) -> QueryPosition {
        guard zoneName != zone.zoneName else { return self }
        let isBehind = zone.zoneName.utf8.lexicographicallyPrecedes(zoneName.utf8)
        return QueryPosition(
            keys: keys, recordName: order.edge(atEnd: isBehind), zoneName: zone.zoneName, walk: walk)
    }
}

/// Which index a query without a sort walks in a zone, so that the next page goes on in it.
struct QueryWalk: Hashable, Sendable {
    /// The condition that the index belongs to, or nil for the records' names.
    let condition: Int?
    /// Which of the condition's scans.
    let scan: Int
}

/// The order of results: by the sort keys, then the zone, then the name in the direction of the last key.
struct QueryOrder: Sendable {
    let isAscending: [Bool]

    init(_ keys: [QuerySortKey]) {
        isAscending = keys.map(\.isAscending)
    }

    /// The direction of the names.
    var isAscendingLast: Bool { isAscending.last ?? true }

    /// A name that lies behind all others, or before: they are ASCII.
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

/// A record that a query has found.
struct QueryFound {
    let position: QueryPosition
    let row: StoredRecord
}
