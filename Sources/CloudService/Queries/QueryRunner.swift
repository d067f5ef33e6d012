import CloudStore
import CloudWire

/// A page of a query's results.
struct QueryPage {
    var rows: [RecordRow] = []
    /// Where the next page begins; nil: this is the last.
    var next: QueryPosition?
}

/// Finds a page of a query's results in one zone, or in several.
struct QueryRunner {
    let reader: any CloudStoreReader
    let query: ResolvedQuery
    /// Sorted.
    let zones: [ZoneKey]
    let limits: ServiceLimits
    let recordsMax: Int
    /// Nil: all records may be seen.
    let isVisible: ((RecordRow) -> Bool)?

    func page(after cursor: QueryPosition?) throws -> QueryPage {
        query.sortKeys.isEmpty ? try unsortedPage(after: cursor) : try sortedPage(after: cursor)
    }

    /// One zone after another.
    private func unsortedPage(after cursor: QueryPosition?) throws -> QueryPage {
        var page = QueryPage()
        var rowsLeft = limits.queryRowsExaminedMax
        var bytesLeft = limits.answerBytesMax
        for zone in zones {
            var cursor = cursor
            if let zoneName = cursor?.zoneName, zoneName != zone.zoneName {
                if zone.zoneName.utf8.lexicographicallyPrecedes(zoneName.utf8) { continue }
                cursor = nil
            }
            let search = ZoneSearch(
                reader, zone: zone, query: query, wanted: recordsMax - page.rows.count, rowsMax: rowsLeft,
                bytesMax: bytesLeft, search: limits.querySearch, isVisible: isVisible)
            try search.run(after: cursor)
            page.rows += search.found.map(\.row)
            rowsLeft = search.rowsLeft
            bytesLeft -= search.found.reduce(0) { $0 + $1.row.fields.count }
            page.next = search.stoppedAt
            // A zone that ended with the page is gone through: the next page looks at the next zone.
            if page.next == nil, page.rows.count >= recordsMax || rowsLeft <= 0 || bytesLeft <= 0,
                zone != zones.last
            {
                page.next = search.found.last?.position ?? endOf(zone)
            }
            if page.next != nil { return page }
        }
        return page
    }

    /// Behind all of a zone: its names are ASCII.
    private func endOf(_ zone: ZoneKey) -> QueryPosition {
        QueryPosition(
            keys: [OrderedBytes.text("\u{10FFFF}")], recordName: "\u{10FFFF}", zoneName: zone.zoneName,
            walk: QueryWalk(condition: nil, scan: 0))
    }

    /// The zones' results in one order.
    private func sortedPage(after cursor: QueryPosition?) throws -> QueryPage {
        // One more than fits in all shares tells that there are more.
        let share =
            zones.count == 1 ? recordsMax : min(recordsMax, max(8, 2 * recordsMax / max(1, zones.count)))
        var found: [QueryFound] = []
        var stops: [QueryPosition] = []
        for zone in zones {
            let search = ZoneSearch(
                reader, zone: zone, query: query, wanted: share,
                rowsMax: max(limits.querySearch.rowsInZoneMin, limits.queryRowsExaminedMax / zones.count),
                bytesMax: max(1, limits.answerBytesMax / zones.count), search: limits.querySearch,
                isVisible: isVisible)
            try search.run(after: cursor)
            found += search.found
            if let stoppedAt = search.stoppedAt { stops.append(stoppedAt) }
        }
        let order = QueryOrder(query.sortKeys)
        found.sort { order.precedes($0.position, $1.position) }
        // What lies behind where one of them stopped may have others before it.
        let stop = stops.min(by: order.precedes)
        if let stop { found.removeAll { order.precedes(stop, $0.position) } }
        var page = QueryPage(rows: found.prefix(recordsMax).map(\.row), next: stop)
        if found.count > recordsMax { page.next = found[recordsMax - 1].position }
        return page
    }
}
