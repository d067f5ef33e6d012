import SQLite

/// Finds the rows nearest to a point, in boxes around it that grow until one contains enough rows.
struct RTreeNearest<Object: Sendable> {
    typealias Found = (rowID: Int64, distance: Double)

    /// Size of the first box relative to one that surely contains enough rows.
    private static var firstPart: Double { 0x1p-16 }
    /// Growth factor of the boxes.
    private static var growth: Double { 4 }

    let reader: IndexReader<Object>
    let sql: RTreeSQL
    let distance: RTreeDistance
    /// Condition of the rows.
    let filter: SecondaryIndexWhere
    let limit: Int

    /// Returns up to `limit` rows, nearest first. Runs up to eleven queries.
    func find() throws -> [Found] {
        guard limit > 0 else { return [] }
        // Any rows: the nearest ones are no farther than the farthest of these.
        let some = try rows(filter, order: "")
        let reach = some.map(\.distance).max() ?? 0
        if some.count < limit { return some.sorted { ($0.distance, $0.rowID) < ($1.distance, $1.rowID) } }
        guard reach.isFinite else { return try nearest(filter) }
        var radius = reach * Self.firstPart
        while radius < reach {
            let found = try nearest(within: radius)
            if found.count == limit, let farthest = found.last?.distance {
                // A row beyond the radius may be in a corner of the box, and a nearer one outside the box.
                return farthest <= radius ? found : try nearest(within: farthest)
            }
            radius *= Self.growth
        }
        return try nearest(within: reach)
    }

    private func nearest(within radius: Double) throws -> [Found] {
        var box = filter
        distance.add(boxOf: radius, sql, to: &box)
        return try nearest(box)
    }

    private func nearest(_ filter: SecondaryIndexWhere) throws -> [Found] {
        try rows(filter, order: " ORDER BY 1, 2")
    }

    private func rows(_ filter: SecondaryIndexWhere, order: String) throws -> [Found] {
        var filter = filter
        let squared = distance.squared(sql, &filter)
        let text =
            "SELECT \(squared), i.rowid\(sql.exact.from)\(filter.text)\(order)"
            + " LIMIT \(filter.parameter(.integer(Int64(limit))))"
        return try reader.query(text, filter) { statement in
            var found: [Found] = []
            while try statement.step() {
                found.append((statement.int64(at: 1), statement.double(at: 0).squareRoot()))
            }
            return found
        }
    }
}
