import CloudStore
import CloudWire

/// A page of a query's results.
struct QueryPage {
    var rows: [StoredRecord] = []
    /// Position of the next page. Nil before the first page and after the last.
    var next: QueryPosition?
    var moreComing = false
}

/// Finds a page of a query's results in one or several zones.
struct QueryRunner {
    let reader: any CloudStoreReader
    let query: ResolvedQuery
    /// The zones, sorted.
    let zones: [ZoneKey]
    let limits: ServiceLimits
    let recordsMax: Int
    /// The filter of visible records, or nil if all are visible.
    let isVisible: ((StoredRecord) -> Bool)?

    /// Finds a page within `budget`, and subtracts the page's cost from it.
    func page(after cursor: QueryPosition?, _ budget: inout AnswerBudget) throws -> QueryPage {
        guard !budget.isSpent else { return QueryPage(next: cursor, moreComing: true) }
        var page =
            query.sortKeys.isEmpty
            ? try unsortedPage(after: cursor, &budget) : try sortedPage(after: cursor, &budget)
        page.moreComing = page.next != nil
        return page
    }

    /// Reads the zones one after another.
    private func unsortedPage(
        after cursor: QueryPosition?, _ budget: inout AnswerBudget
    ) throws -> QueryPage {
        var page = QueryPage()
        for zone in zones {
            var cursor = cursor
            if let zoneName = cursor?.zoneName, zoneName != zone.zoneName {
                if zone.zoneName.utf8.lexicographicallyPrecedes(zoneName.utf8) { continue }
                cursor = nil
            }
            let search = ZoneSearch(
                reader, zone: zone, query: query, wanted: recordsMax - page.rows.count,
                rowsMax: budget.rows, bytesMax: budget.bytes, search: limits.querySearch,
                isVisible: isVisible)
            try search.run(after: cursor)
            page.rows += search.found.map(\.row)
            // A zone without records costs one row.
            budget.rows = search.rowsLeft - 1
            budget.bytes = search.bytesLeft
            page.next = search.stoppedAt
            // The zone ended with the page, so the next page begins in the next zone.
            if page.next == nil, page.rows.count >= recordsMax || budget.isSpent,
                zone != zones.last
            {
                page.next = search.found.last?.position ?? endOf(zone)
            }
            if page.next != nil { return page }
        }
        return page
    }

    /// Returns the position after all records of a zone. Names are ASCII.
    private func endOf(_ zone: ZoneKey) -> QueryPosition {
        QueryPosition(
            keys: [OrderedBytes.text("\u{10FFFF}")], recordName: "\u{10FFFF}", zoneName: zone.zoneName,
            walk: QueryWalk(condition: nil, scan: 0))
    }

    /// Merges the zones' results into one order.
    private func sortedPage(
        after cursor: QueryPosition?, _ budget: inout AnswerBudget
    ) throws -> QueryPage {
        // One more than fits in all shares, to detect that there are more.
        let share =
            zones.count == 1 ? recordsMax : min(recordsMax, max(8, 2 * recordsMax / max(1, zones.count)))
        let order = QueryOrder(query.sortKeys)
        var found: [QueryFound] = []
        var stops: [QueryPosition] = []
        let whole = budget
        for zone in zones {
            let search = ZoneSearch(
                reader, zone: zone, query: query, wanted: share,
                rowsMax: max(limits.querySearch.rowsInZoneMin, whole.rows / zones.count),
                bytesMax: max(1, whole.bytes / zones.count), search: limits.querySearch,
                isVisible: isVisible)
            let (rowsMax, bytesMax) = (search.rowsLeft, search.bytesLeft)
            try search.run(after: cursor)
            budget.rows -= rowsMax - search.rowsLeft + 1
            budget.bytes -= bytesMax - search.bytesLeft
            found += search.found
            if let stoppedAt = search.stoppedAt { stops.append(stoppedAt) }
            guard zones.count > 1 else { continue }
            // Each zone returns at least one record, of any size.
            if let stop = trim(&found, bytesMax: whole.bytes, order) { stops.append(stop) }
        }
        found.sort { order.precedes($0.position, $1.position) }
        // Beyond the position where a zone stopped, earlier records may be missing.
        let stop = stops.min(by: order.precedes)
        if let stop { found.removeAll { order.precedes(stop, $0.position) } }
        var page = QueryPage(rows: found.prefix(recordsMax).map(\.row), next: stop)
        if found.count > recordsMax { page.next = found[recordsMax - 1].position }
        return page
    }

    /// Keeps the first records up to a total size of their fields, and at least one.
    ///
    /// - Returns: the position of the last kept record, if others were dropped.
    private func trim(_ found: inout [QueryFound], bytesMax: Int, _ order: QueryOrder) -> QueryPosition? {
        guard found.count > 1, found.reduce(0, { $0 + $1.row.fields.count }) > bytesMax else { return nil }
        found.sort { order.precedes($0.position, $1.position) }
        var bytes = 0
        let kept = found.prefix { record in
            bytes += record.row.fields.count
            return bytes <= bytesMax
        }
        found.removeSubrange(max(1, kept.count)...)
        return found.last?.position
    }
}
