import SQLite

extension Connection {
    /// The first column of the first row.
    func integer(_ sql: String) throws -> Int64? {
        try withStatement(sql) { try $0.step() ? $0.int64(at: 0) : nil }
    }

    /// The first column of the first row.
    func text(_ sql: String) throws -> String? {
        try withStatement(sql) { try $0.step() ? $0.text(at: 0) : nil }
    }

    /// The first column of each row.
    func integers(_ sql: String) throws -> [Int64] {
        try withStatement(sql) { statement in
            var values: [Int64] = []
            while try statement.step() { values.append(statement.int64(at: 0)) }
            return values
        }
    }
}
