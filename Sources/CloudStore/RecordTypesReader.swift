import SQLite

/// What a store tells the operator of the records of all users together.
public protocol RecordTypesReader {
    /// The types of all records, sorted. Looks at each record.
    func recordTypes() throws -> [String]

    /// The records of a type behind `after` (nil: from the first), of all users, in the order of their keys, without
    /// tombstones. The page ends with the record whose fields cross `bytesMax`.
    func recordsOfAllUsers(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow>
}

extension ChangesPage<RecordRow> {
    /// Takes a row when there is room; false when there is none, and more are coming.
    fileprivate mutating func take(
        _ row: RecordRow, bytes: inout Int, recordsMax: Int, bytesMax: Int
    ) -> Bool {
        guard rows.count < recordsMax, bytes < bytesMax else {
            moreComing = true
            return false
        }
        rows.append(row)
        bytes += row.fields.count
        return true
    }
}

extension SQLiteStoreTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] {
        let sql = "SELECT DISTINCT type FROM records WHERE isDeleted = 0 ORDER BY type"
        return try connection.withStatement(sql) { statement in
            var types: [String] = []
            while try statement.step() { types.append(statement.text(at: 0)) }
            return types
        }
    }

    func recordsOfAllUsers(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        let sql = """
            SELECT scope, owner, zone, name, \(Self.recordColumns) FROM records
            WHERE (scope, owner, zone, name) > (?1, ?2, ?3, ?4) AND type = ?5 AND isDeleted = 0
            ORDER BY scope, owner, zone, name LIMIT ?6
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after?.zone.database.scope.rawValue ?? 0, at: 1)
            try statement.bind(after?.zone.database.owner ?? "", at: 2)
            try statement.bind(after?.zone.zoneName ?? "", at: 3)
            try statement.bind(after?.recordName ?? "", at: 4)
            try statement.bind(recordType, at: 5)
            try statement.bind(Int64(recordsMax) + 1, at: 6)
            var page = ChangesPage<RecordRow>(rows: [], moreComing: false)
            var bytes = 0
            while try statement.step() {
                guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: 0)) else {
                    throw CloudStoreError.damaged(path: path, reason: "a record of an unknown database")
                }
                let database = DatabaseKey(scope: scope, owner: statement.text(at: 1))
                let zone = ZoneKey(database: database, zoneName: statement.text(at: 2))
                let key = RecordKey(zone: zone, recordName: statement.text(at: 3))
                let row = recordRow(key, from: statement, at: 4)
                guard page.take(row, bytes: &bytes, recordsMax: recordsMax, bytesMax: bytesMax) else { break }
            }
            return page
        }
    }
}

extension MemoryTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] {
        Set(tables.records.values.joined().filter { !$0.value.isDeleted }.map(\.value.recordType)).sorted()
    }

    func recordsOfAllUsers(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        let rows = tables.records.values.flatMap(\.values)
            .filter { row in
                row.recordType == recordType && !row.isDeleted && after.map { $0 < row.key } ?? true
            }
            .sorted { $0.key < $1.key }
        var page = ChangesPage<RecordRow>(rows: [], moreComing: false)
        var bytes = 0
        for row in rows {
            guard page.take(row, bytes: &bytes, recordsMax: recordsMax, bytesMax: bytesMax) else { break }
        }
        return page
    }
}
