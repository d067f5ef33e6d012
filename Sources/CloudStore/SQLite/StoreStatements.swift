import SQLite

/// Helpers of the owners of tables to run statements and to read keys.
extension Connection {
    /// Runs `sql` once, with the values that `bind` binds.
    func run(_ sql: String, _ bind: (borrowing Statement) throws -> Void) throws {
        try withStatement(sql) { statement in
            try bind(statement)
            try statement.run()
        }
    }

    /// Returns the rows from before a time. `sql` takes the time and `rowsMax`, the maximum number of rows, as its two
    /// parameters.
    func rows<Row>(
        _ sql: String, before milliseconds: Int64, rowsMax: Int, _ row: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        try withStatement(sql) { statement in
            try statement.bind(milliseconds, rowsMax, at: 1)
            return try statement.rows(row)
        }
    }

    /// Reads a scope.
    func scope(from statement: borrowing Statement, at column: Int32) throws -> StoredDatabaseKey.Scope {
        guard let scope = StoredDatabaseKey.Scope(rawValue: statement.int64(at: column)) else {
            throw CloudStoreError.damaged(path: path, reason: "unknown scope \(statement.int64(at: column))")
        }
        return scope
    }

    /// Reads the two columns of a database's key.
    func databaseKey(from statement: borrowing Statement, at column: Int32) throws -> StoredDatabaseKey {
        StoredDatabaseKey(
            scope: try scope(from: statement, at: column), owner: statement.text(at: column + 1))
    }

    /// Reads the three columns of a zone's key.
    func zoneKey(from statement: borrowing Statement, at column: Int32) throws -> ZoneKey {
        ZoneKey(
            database: try databaseKey(from: statement, at: column), zoneName: statement.text(at: column + 2))
    }
}

extension Statement {
    /// Returns the remaining rows, up to the first that `isWanted` rejects.
    func rows<Row>(
        while isWanted: (borrowing Statement) -> Bool = { _ in true },
        _ row: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        while try step(), isWanted(self) { rows.append(try row(self)) }
        return rows
    }

    /// Returns the next `rowsMax` rows. The statement must select one more.
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

    /// Returns the number in the first row, or 0 without a row.
    func firstInt64() throws -> Int64 { try step() ? int64(at: 0) : 0 }

    /// Returns the text, or nil for NULL.
    func optionalText(at column: Int32) -> String? {
        isNull(at: column) ? nil : text(at: column)
    }

    /// Returns the device of two columns, or nil for NULL.
    func optionalDevice(at column: Int32) -> DeviceKey? {
        optionalText(at: column).map { DeviceKey(user: $0, device: text(at: column + 1)) }
    }

    /// Binds a database's key to two parameters.
    func bind(_ key: StoredDatabaseKey, at index: Int32 = 1) throws {
        try bind(key.scope.rawValue, at: index)
        try bind(key.owner, at: index + 1)
    }

    /// Binds a zone's key to the first three parameters.
    func bind(_ key: ZoneKey) throws {
        try bind(key.database)
        try bind(key.zoneName, at: 3)
    }

    /// Binds the key after which a page starts. Nil binds values that sort before all keys: scopes start with 1.
    func bind(after key: ZoneKey?) throws {
        if let key { return try bind(key) }
        try bind(0, "", "", at: 1)
    }
}

/// A value that can be bound to a parameter, for calls that bind several values.
protocol BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws
}

extension Int64: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws { try statement.bind(self, at: i) }
}

extension Int: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws { try statement.bind(self, at: i) }
}

/// Binds the same bits: SQLite has no unsigned numbers.
extension UInt64: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws {
        try statement.bind(Int64(bitPattern: self), at: i)
    }
}

extension Bool: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws {
        try statement.bind(self ? 1 : 0, at: i)
    }
}

extension String: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws { try statement.bind(self, at: i) }
}

extension [UInt8]: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws { try statement.bind(self, at: i) }
}

extension Optional: BoundValue where Wrapped: BoundValue {
    func bind(to statement: borrowing Statement, at i: Int32) throws {
        if let self { try self.bind(to: statement, at: i) } else { try statement.bindNull(at: i) }
    }
}

/// Overloads for two, three and four values: a variadic function makes a short statement a third slower.
extension Statement {
    /// Binds a value that SQLite has no type for: NULL, a flag, an unsigned number.
    func bind(_ value: some BoundValue, at index: Int32) throws { try value.bind(to: self, at: index) }

    /// Binds values to `index` and the parameters after it.
    func bind(_ a: some BoundValue, _ b: some BoundValue, at index: Int32) throws {
        try a.bind(to: self, at: index)
        try b.bind(to: self, at: index + 1)
    }

    /// Binds values to `index` and the parameters after it.
    func bind(_ a: some BoundValue, _ b: some BoundValue, _ c: some BoundValue, at index: Int32) throws {
        try bind(a, b, at: index)
        try c.bind(to: self, at: index + 2)
    }

    /// Binds values to `index` and the parameters after it.
    func bind(
        _ a: some BoundValue, _ b: some BoundValue, _ c: some BoundValue, _ d: some BoundValue,
        at index: Int32
    ) throws {
        try bind(a, b, at: index)
        try bind(c, d, at: index + 2)
    }
}
