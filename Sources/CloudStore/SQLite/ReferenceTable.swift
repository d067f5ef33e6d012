import SQLite

/// Binding references, by their targets. Owns `recordReferences`.
struct ReferenceTable {
    let connection: Connection
    let places: ZonePlaces

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        var rowsLeft = wanted.dependantsMax
        for key in wanted.dependantsOf {
            let rows = try dependants(of: key, rowsMax: rowsLeft)
            loaded.dependants[key] = Array(rows.prefix(rowsLeft))
            if rows.count > rowsLeft { loaded.isCutShort = true }
            rowsLeft -= min(rowsLeft, rows.count)
        }
        var countsLeft = wanted.deleteSelfCountsMax
        for key in wanted.deleteSelfCountsOf {
            let count = try deleteSelfCount(of: key, countMax: min(wanted.deleteSelfCountMax, countsLeft))
            loaded.deleteSelfCounts[key] = count
            countsLeft -= count
            guard countsLeft > 0 else {
                loaded.isCutShort = true
                break
            }
        }
    }

    func apply(_ changes: StoreChanges, _ rows: WrittenRows) throws {
        for row in changes.removedReferences {
            try remove(row)
            try rows.check()
        }
        for key in changes.removedSources {
            try removeAll(from: key)
            try rows.check()
        }
        for row in changes.addedReferences { try add(row) }
        try rows.check()
    }

    /// - Returns: The number of removed references.
    @discardableResult
    func removeAll(from source: RecordKey) throws -> Int {
        let sql = "DELETE FROM recordReferences WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND source = ?4"
        try connection.run(sql) { try places.bind(source, to: $0) }
        return connection.changesCount
    }

    func hasRows(at place: ZoneKey) throws -> Bool {
        try connection.hasRows(in: "recordReferences", at: place)
    }

    func removeAll(at place: ZoneKey) throws { try connection.removeRows(of: "recordReferences", at: place) }

    /// Returns the references, sorted. One more than `rowsMax` if there are more.
    private func dependants(of target: RecordKey, rowsMax: Int) throws -> [ReferenceRow] {
        let sql = """
            SELECT source, kind FROM recordReferences
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 ORDER BY source, kind
            LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(target, to: statement)
            try statement.bind(rowsMax == .max ? -1 : rowsMax + 1, at: 5)
            return try statement.rows {
                guard let kind = ReferenceRow.Kind(rawValue: $0.int64(at: 1)) else {
                    throw CloudStoreError.damaged(
                        path: connection.path, reason: "unknown kind of reference to \(target.recordName)")
                }
                return ReferenceRow(target: target, sourceName: $0.text(at: 0), kind: kind)
            }
        }
    }

    /// Counts the records that reference `target` with DELETE_SELF. Counting stops at `countMax`.
    private func deleteSelfCount(of target: RecordKey, countMax: Int) throws -> Int {
        let sql = """
            SELECT count(*) FROM (
                SELECT 1 FROM recordReferences
                WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 AND kind = ?5 LIMIT ?6)
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(target, to: statement)
            try statement.bind(ReferenceRow.Kind.deleteSelf.rawValue, countMax, at: 5)
            return Int(try statement.firstInt64())
        }
    }

    private func remove(_ row: ReferenceRow) throws {
        let sql = """
            DELETE FROM recordReferences
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 AND source = ?5 AND kind = ?6
            """
        try run(sql, row)
    }

    private func add(_ row: ReferenceRow) throws {
        let sql = """
            INSERT OR REPLACE INTO recordReferences (scope, owner, zone, target, source, kind)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try run(sql, row)
    }

    private func run(_ sql: String, _ row: ReferenceRow) throws {
        try connection.run(sql) { statement in
            try places.bind(row.target, to: statement)
            try statement.bind(row.sourceName, row.kind.rawValue, at: 5)
        }
    }
}
