import CloudStore

/// Sorts by distance: reads rings around the place, each narrow enough to contain few records.
extension ZoneSearch {
    /// An entry of a location index, with its place.
    private struct PlaceHit {
        let metres: Double
        let value: [UInt8]
        let recordName: String
    }

    private static let farthestMetres = Place.earthRadiusMetres * .pi * (1 + 1e-9)
    private static let firstRingMetres = 1_000.0
    /// Minimum width of a ring in metres. Narrower rings aren't divided.
    private static let ringMetresMin = 0.001

    func walkRings(
        around place: Place, level: Int, fixed: [[UInt8]], after cursor: QueryPosition?
    ) throws -> Bool {
        let key = query.sortKeys[level]
        var cursor = cursor
        if key.isAscending {
            if cursor?.keys[level].first ?? 0 <= QuerySortKey.valuePrefix {
                let from = cursor.map { metres(in: $0.keys[level]) } ?? 0
                guard try rings(around: place, level: level, fixed: fixed, from: from, after: cursor) else {
                    return false
                }
                cursor = nil
            }
            return try nowhere(level: level, fixed: fixed, after: cursor)
        }
        if cursor?.keys[level].isEmpty == true { return true }
        let first = cursor?.keys[level].first ?? QuerySortKey.nowhere[0]
        if first == QuerySortKey.nowhere[0] {
            guard try nowhere(level: level, fixed: fixed, after: cursor) else { return false }
            cursor = nil
        }
        guard cursor == nil || first == QuerySortKey.valuePrefix else { return true }
        let from = cursor.map { metres(in: $0.keys[level]) } ?? Self.farthestMetres
        return try rings(around: place, level: level, fixed: fixed, from: from, after: cursor)
    }

    private func metres(in key: [UInt8]) -> Double {
        OrderedBytes.double(Array(key.dropFirst())) ?? 0
    }

    /// Records without a place come after all others.
    private func nowhere(level: Int, fixed: [[UInt8]], after cursor: QueryPosition?) throws -> Bool {
        if let first = cursor?.keys[level].first, first > QuerySortKey.nowhere[0] { return true }
        let source = IndexScan.Source.entries(field: query.sortKeys[level].field.name, kind: .order)
        let part = QueryDriver.Part(source: source, range: ByteRange(only: QuerySortKey.noValue))
        let fixed = fixed + [QuerySortKey.nowhere]
        guard try group([part], fixed: fixed, after: cursor) else { return false }
        return examine(0, upTo: end(of: fixed))
    }

    private func rings(
        around place: Place, level: Int, fixed: [[UInt8]], from: Double, after cursor: QueryPosition?
    ) throws -> Bool {
        let isAscending = query.sortKeys[level].isAscending
        var near = from
        var width = Self.firstRingMetres
        var isFirst = true
        while isAscending ? near < Self.farthestMetres : near > 0 || isFirst {
            let far = isAscending ? near + width : max(0, near - width)
            // The first ring contains its inner edge, where the last page may have ended.
            let isInside = { (metres: Double) -> Bool in
                isAscending
                    ? metres <= far && (isFirst ? metres >= near : metres > near)
                    : metres >= far && (isFirst ? metres <= near : metres < near)
            }
            let isNarrow = width <= Self.ringMetresMin
            let found = try entries(
                around: place, level: level, min(near, far), max(near, far), isInside,
                rowsMax: isNarrow ? search.entriesAtOnePlaceMax : search.ringEntriesMax)
            guard let hits = found else {
                if !isNarrow {
                    width /= 4
                    continue
                }
                throw ServiceError.limitExceeded(
                    "too many records are at one place to be ordered by their distance")
            }
            let taken = whole(hits, isAscending: isAscending)
            guard try take(taken, place, level: level, fixed: fixed, after: cursor) else { return false }
            let reached = taken.count < hits.count ? taken.last?.metres ?? far : far
            let atEdge = [QuerySortKey.valuePrefix] + OrderedBytes.number(reached)
            guard examine(taken.count, upTo: end(of: fixed + [atEdge])) else { return false }
            width =
                taken.count < search.ringRows / 4 ? width * 4 : taken.count < hits.count ? width / 2 : width
            near = reached
            isFirst = false
        }
        return true
    }

    /// Returns the first of the hits, without separating those at the same distance.
    private func whole(_ hits: [PlaceHit], isAscending: Bool) -> [PlaceHit] {
        let sorted = hits.sorted { isAscending ? $0.metres < $1.metres : $0.metres > $1.metres }
        guard sorted.count > search.ringRows else { return sorted }
        let edge = sorted[search.ringRows - 1].metres
        let end = sorted.firstIndex { isAscending ? $0.metres > edge : $0.metres < edge } ?? sorted.count
        // If very many hits are at the edge, they are handled alone.
        let edgeStart = sorted.firstIndex { $0.metres == edge } ?? 0
        return Array(sorted[..<(end > search.gatheredMax && edgeStart > 0 ? edgeStart : end)])
    }

    /// Returns the entries of a ring, or nil if its cells have too many.
    private func entries(
        around place: Place, level: Int, _ inner: Double, _ outer: Double, _ isInside: (Double) -> Bool,
        rowsMax: Int
    ) throws -> [PlaceHit]? {
        let source = IndexScan.Source.entries(field: query.sortKeys[level].field.name, kind: .place)
        let cells = EarthCell.covering(place, inner: inner, outer: outer, cellsMax: 64)
        var hits: [PlaceHit] = []
        var rows = 0
        for cell in cells {
            let part = QueryDriver.Part(source: source, range: cell)
            let page = try reader.find(scan(part, rowsMax: rowsMax - rows, withRecords: false))
            guard !page.moreComing else { return nil }
            rows += page.rows.count
            for hit in page.rows {
                guard let there = EarthCell.place(in: hit.position.value) else { continue }
                let metres = place.distance(to: there)
                guard isInside(metres) else { continue }
                hits.append(
                    PlaceHit(metres: metres, value: hit.position.value, recordName: hit.position.recordName))
            }
        }
        return hits
    }

    private func take(
        _ hits: [PlaceHit], _ place: Place, level: Int, fixed: [[UInt8]], after cursor: QueryPosition?
    ) throws -> Bool {
        if let first = hits.first, hits.count > search.gatheredMax, hits.last?.metres == first.metres {
            // Thousands of records at one distance are at one place.
            let atOne = fixed + [[QuerySortKey.valuePrefix] + OrderedBytes.number(first.metres)]
            return try walk(
                level: level + 1, fixed: atOne, after: cursor?.keys[level] == atOne[level] ? cursor : nil)
        }
        var positions: [QueryPosition] = []
        // A few at a time, since each record may have the maximum size.
        for chunk in hits.chunks(of: 16) {
            var wanted = StoreLoad()
            wanted.records = chunk.map { RecordKey(zone: zone, recordName: $0.recordName) }
            for row in try reader.load(wanted).records.values {
                rowsLeft -= cost(of: row) - 1
                guard let subject = match(row, fixed: fixed) else { continue }
                positions.append(position(keys(of: subject), row.key.recordName))
            }
        }
        return try take(positions, after: cursor)
    }
}
