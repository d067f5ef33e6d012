import SQLite

/// Counts for the operator.
extension IndexTables {
    /// Maximum number of parts that one count reads. A part is a type in a zone.
    private static let partsMax = 10_000

    func countRecords(in database: StoredDatabaseKey, rowsMax: Int) throws -> [RecordCount] {
        let sql = """
            SELECT id, scope, owner, zone, type FROM indexParts WHERE scope = ?1 AND owner = ?2
            ORDER BY zone, type LIMIT \(Self.partsMax)
            """
        let parts = try connection.withStatement(sql) { statement in
            try statement.bind(database)
            return try countedParts(from: statement)
        }
        var counts: [RecordCount] = []
        var left = rowsMax
        for part in parts {
            guard let zone = try places.zone(at: part.place) else { continue }
            let count = try countNames(part: part.id, max: left + 1)
            if count > 0 {
                counts.append(
                    RecordCount(
                        zoneName: zone.zoneName, recordType: part.recordType, count: min(count, left),
                        isCapped: count > left))
            }
            left -= min(count, left)
        }
        return counts
    }

    func countRecords(ofType recordType: String, rowsMax: Int) throws -> CountedRows {
        try count(ofType: recordType, rowsMax: rowsMax) { try countNames(part: $0, max: $1) }
    }

    func countEntries(
        ofType recordType: String, field: String, kind: StoredIndexEntry.Kind, rowsMax: Int
    ) throws -> CountedRows {
        let sql = """
            SELECT count(*) FROM (
                SELECT 1 FROM indexEntries WHERE part = ?1 AND field = ?2 AND kind = ?3 LIMIT ?4
            )
            """
        return try count(ofType: recordType, rowsMax: rowsMax) { part, max in
            try connection.withStatement(sql) { statement in
                try statement.bind(part, field, kind.rawValue, Int64(max), at: 1)
                return Int(try statement.firstInt64())
            }
        }
    }

    private struct CountedPart {
        let id: Int64
        let place: ZoneKey
        let recordType: String
    }

    private func countedParts(from statement: borrowing Statement) throws -> [CountedPart] {
        try statement.rows {
            let place = try connection.zoneKey(from: $0, at: 1)
            return CountedPart(id: $0.int64(at: 0), place: place, recordType: $0.text(at: 4))
        }
    }

    private func count(
        ofType recordType: String, rowsMax: Int, _ body: (_ part: Int64, _ max: Int) throws -> Int
    ) throws -> CountedRows {
        let sql = """
            SELECT id, scope, owner, zone, type FROM indexParts WHERE type = ?1 LIMIT \(Self.partsMax)
            """
        let parts = try connection.withStatement(sql) { statement in
            try statement.bind(recordType, at: 1)
            return try countedParts(from: statement)
        }
        var count = 0
        for part in parts where count < rowsMax {
            guard try places.zone(at: part.place) != nil else { continue }
            count += try body(part.id, rowsMax - count)
        }
        // The entries of further parts are unknown.
        let isCapped = parts.count == Self.partsMax
        return CountedRows(count: isCapped ? rowsMax : count, rowsRead: 2 * parts.count + count)
    }

    private func countNames(part: Int64, max: Int) throws -> Int {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM indexedRecords WHERE part = ?1 LIMIT ?2)"
        return try connection.withStatement(sql) { statement in
            try statement.bind(part, Int64(max), at: 1)
            return Int(try statement.firstInt64())
        }
    }
}
