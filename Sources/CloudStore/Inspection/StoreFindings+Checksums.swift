import SQLite

/// Checks that the checksums of zones are the sums of their records' checksums. Only the service can check those of
/// records.
extension StoreFile {
    static func checksumFindings(_ connection: Connection) throws -> [StoreFinding] {
        let sql = """
            SELECT z.scope, z.owner, z.zone, z.identities, z.contents, z.isCounted, r.identity, r.content, r.name
            FROM \(placedZones) AS z LEFT JOIN records AS r
            ON r.scope = z.scope AND r.owner = z.owner AND r.zone = z.place AND r.isDeleted = 0
            ORDER BY z.scope, z.owner, z.zone
            """
        var (wrong, uncounted) = (0, 0)
        var current: (key: [String], stored: StoreChecksum, sum: StoreChecksum)?
        func end() { if let current, current.stored != current.sum { wrong += 1 } }
        try connection.withStatement(sql) { row in
            while try row.step() {
                let key = (Int32(0)..<3).map { row.text(at: $0) }
                if current?.key != key {
                    end()
                    current = (key, StoreChecksum(row, at: 3), StoreChecksum())
                }
                guard !row.isNull(at: 8) else { continue }
                if row.isNull(at: 6) {
                    uncounted += row.int64(at: 5) == 0 ? 0 : 1
                } else {
                    current?.sum += StoreChecksum(row, at: 6)
                }
            }
        }
        end()
        return [
            (wrong, "zones with a checksum that differs from the sum over their records"),
            (uncounted, "records without a checksum in zones that have one"),
        ].filter { $0.0 > 0 }.map { StoreFinding(check: "checksums", what: "\($0.0) \($0.1)") }
    }
}
