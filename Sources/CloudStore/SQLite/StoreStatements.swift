import SQLite

/// How the owners of tables read rows and name what the rows belong to.
extension Connection {
    /// Runs `sql` once, with what `bind` binds.
    func run(_ sql: String, _ bind: (borrowing Statement) throws -> Void) throws {
        try withStatement(sql) { statement in
            try bind(statement)
            try statement.run()
        }
    }

    /// The rows from before a time, `rowsMax` at most, which `sql` takes as its two parameters.
    func rows<Row>(
        _ sql: String, before milliseconds: Int64, rowsMax: Int, _ row: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        try withStatement(sql) { statement in
            try statement.bind(milliseconds, at: 1)
            try statement.bind(rowsMax, at: 2)
            return try statement.rows(row)
        }
    }

    /// Reads a scope.
    func scope(from statement: borrowing Statement, at column: Int32) throws -> DatabaseKey.Scope {
        guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: column)) else {
            throw CloudStoreError.damaged(path: path, reason: "unknown scope \(statement.int64(at: column))")
        }
        return scope
    }

    /// Reads the two columns of a database's key.
    func databaseKey(from statement: borrowing Statement, at column: Int32) throws -> DatabaseKey {
        DatabaseKey(
            scope: try scope(from: statement, at: column), owner: statement.text(at: column + 1))
    }

    /// Reads the three columns of a zone's key.
    func zoneKey(from statement: borrowing Statement, at column: Int32) throws -> ZoneKey {
        ZoneKey(
            database: try databaseKey(from: statement, at: column), zoneName: statement.text(at: column + 2))
    }
}

extension Statement {
    /// The rows that are left.
    func rows<Row>(_ row: (borrowing Statement) throws -> Row) throws -> [Row] {
        var rows: [Row] = []
        while try step() { rows.append(try row(self)) }
        return rows
    }

    /// The rows that are left, `rowsMax` at most. The statement asks for one more.
    func page<Row>(rowsMax: Int, _ row: (borrowing Statement) throws -> Row) throws -> ChangesPage<Row> {
        var page = ChangesPage<Row>(rows: [], moreComing: false)
        while try step() {
            guard page.rows.count < rowsMax else {
                page.moreComing = true
                break
            }
            page.rows.append(try row(self))
        }
        return page
    }

    /// The number in the first row; 0 without a row.
    func firstInt64() throws -> Int64 { try step() ? int64(at: 0) : 0 }

    /// The text, or nil for NULL.
    func optionalText(at column: Int32) -> String? {
        isNull(at: column) ? nil : text(at: column)
    }

    /// The device that two columns name, or nil for NULL.
    func optionalDevice(at column: Int32) -> DeviceKey? {
        optionalText(at: column).map { DeviceKey(user: $0, device: text(at: column + 1)) }
    }

    /// Binds a text, or NULL.
    func bind(_ text: String?, at index: Int32) throws {
        if let text {
            try bind(text, at: index)
        } else {
            try bindNull(at: index)
        }
    }

    /// Binds a number, or NULL.
    func bind(_ number: Int64?, at index: Int32) throws {
        if let number {
            try bind(number, at: index)
        } else {
            try bindNull(at: index)
        }
    }

    /// Binds 1 or 0.
    func bind(_ flag: Bool, at index: Int32) throws { try bind(Int64(flag ? 1 : 0), at: index) }

    /// Binds a database's key to two parameters.
    func bind(_ key: DatabaseKey, at index: Int32 = 1) throws {
        try bind(key.scope.rawValue, at: index)
        try bind(key.owner, at: index + 1)
    }

    /// Binds a zone's key to the first three parameters.
    func bind(_ key: ZoneKey) throws {
        try bind(key.database)
        try bind(key.zoneName, at: 3)
    }

    /// Binds the key that a page begins behind; nil begins before all: scopes begin with 1.
    func bind(after key: ZoneKey?) throws {
        if let key { return try bind(key) }
        try bind(Int64(0), at: 1)
        try bind("", at: 2)
        try bind("", at: 3)
    }
}
