import SQLite

extension SQLiteStoreTransaction {
    /// How many records refer to `target` with DELETE_SELF; no more than `countMax` are counted.
    func deleteSelfCount(of target: RecordKey, countMax: Int) throws -> Int {
        let sql = """
            SELECT count(*) FROM (
                SELECT 1 FROM recordReferences
                WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 AND kind = ?5 LIMIT ?6)
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: target.zone, to: statement)
            try statement.bind(target.recordName, at: 4)
            try statement.bind(ReferenceRow.Kind.deleteSelf.rawValue, at: 5)
            try statement.bind(Int64(countMax), at: 6)
            return try statement.step() ? Int(statement.int64(at: 0)) : 0
        }
    }
}
