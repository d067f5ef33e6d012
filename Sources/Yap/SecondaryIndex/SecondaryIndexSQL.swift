import SQLite

/// SQL statements on the table of one index.
struct SecondaryIndexSQL: Sendable {
    let find: String
    let insert: String
    /// Sets one column, so that only its SQLite indexes are written.
    let set: [String]
    /// Deletes a row and returns its columns.
    let delete: String
    let deleteAll: String
    /// The table, under the name that conditions use.
    let from: String
    /// The same joined with the rows. An index decides the order in which they are visited.
    let fromWithRows: String
    private let columns: [String]

    init(table: String, columns: [String]) {
        let table = Connection.quoted(table)
        let names = columns.map(Connection.quoted)
        let values = (0..<columns.count).map { "?\($0 + 2)" }
        self.columns = names.map { "i.\($0)" }
        find = "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE rowid = ?1"
        insert =
            "INSERT OR REPLACE INTO \(table) (rowid, \(names.joined(separator: ", "))) "
            + "VALUES (?1, \(values.joined(separator: ", ")))"
        set = names.map { "UPDATE \(table) SET \($0) = ?2 WHERE rowid = ?1" }
        delete = "DELETE FROM \(table) WHERE rowid = ?1 RETURNING \(names.joined(separator: ", "))"
        deleteAll = "DELETE FROM \(table)"
        from = " FROM \(table) AS i"
        fromWithRows = " FROM \(table) AS i CROSS JOIN database2 AS d ON d.rowid = i.rowid"
    }

    /// Returns the statements that create the table.
    ///
    /// - Parameter indexes: The SQLite indexes, each as the positions of its columns.
    static func create(table: String, columns: [String], indexes: [[Int]]) -> String {
        let quotedTable = Connection.quoted(table)
        let names = columns.map(Connection.quoted)
        let sql =
            "DROP TABLE IF EXISTS \(quotedTable);"
            + "CREATE TABLE \(quotedTable) (rowid INTEGER PRIMARY KEY, \(names.joined(separator: ", ")));"
        return indexes.enumerated().reduce(into: sql) { sql, index in
            let name = Connection.quoted("index\(index.offset + 1)_of_\(table)")
            let over = index.element.map { names[$0] }.joined(separator: ", ")
            sql += "CREATE INDEX \(name) ON \(quotedTable) (\(over));"
        }
    }

    /// Returns the column in the form that conditions use.
    func column(_ place: Int) -> String { columns[place] }
}

/// Two more columns of an index, by which its table finds rows: a lower and an upper bound of a property's column.
struct IndexBounds: Sendable {
    let lower: String
    let upper: String
}

/// The SQL of a query's condition, with the values of its parameters.
struct SecondaryIndexWhere {
    /// Queries with more values have too many different texts to cache each prepared statement.
    private static let keptValuesMax = 32

    private(set) var text = ""
    private(set) var values: [YapDatabaseColumnValue] = []
    private var bounds: [String: IndexBounds] = [:]
    /// Number of values from the app. Some are in `values` twice.
    private var givenCount = 0

    /// - Parameters:
    ///   - bounds: Bounds of columns, by the columns' SQL.
    ///   - column: Returns the SQL of a property's column.
    init<Object>(
        _ condition: YapDatabaseIndexCondition<Object>?, bounds: [String: IndexBounds] = [:],
        column: (IndexColumnPath) throws -> String
    ) throws {
        self.bounds = bounds
        guard let condition else { return }
        text = " WHERE " + (try sql(condition.node, column))
        guard givenCount <= YapDatabaseIndexCondition<Object>.valuesMax else {
            throw YapDatabaseError(
                .invalidExtension,
                "the query has \(givenCount) values, more than \(YapDatabaseIndexCondition<Object>.valuesMax)"
            )
        }
    }

    /// Creates a condition given in SQL.
    init(text: String, values: [YapDatabaseColumnValue]) {
        self.text = " WHERE (\(text)\n)"
        self.values = values
    }

    /// True if its statement is worth caching.
    var isKept: Bool { values.count <= Self.keptValuesMax }

    /// Adds an expression that must also be true.
    mutating func add(_ expression: String) {
        text += (text.isEmpty ? " WHERE " : " AND ") + expression
    }

    /// Adds the values of named parameters.
    mutating func add(values more: [YapDatabaseColumnValue]) { values += more }

    /// Adds a value, and returns its parameter.
    mutating func parameter(_ value: YapDatabaseColumnValue) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    private mutating func sql<Object>(
        _ node: YapDatabaseIndexCondition<Object>.Node, _ column: (IndexColumnPath) throws -> String
    ) throws -> String {
        switch node {
        case .compare(let path, let comparison, .null):
            // No comparison except `==` finds rows without a value.
            return comparison == "=" ? "\(try column(path)) IS NULL" : "0"
        case .compare(let path, let comparison, let value):
            givenCount += 1
            return compare(try column(path), comparison, value)
        case .isOne(let path, let all):
            let name = try column(path)
            let some = all.filter { $0 != .null }
            givenCount += some.count
            let list = "\(name) IN (\(some.map { parameter($0) }.joined(separator: ", ")))"
            return some.count < all.count ? "(\(list) OR \(name) IS NULL)" : list
        case .hasPrefix(let path, let prefix):
            givenCount += 1
            return hasPrefix(try column(path), prefix)
        case .contains(let path, let text):
            givenCount += 1
            return "instr(\(try column(path)), \(parameter(.text(text)))) > 0"
        case .and(let left, let right): return "(\(try sql(left, column)) AND \(try sql(right, column)))"
        case .or(let left, let right): return "(\(try sql(left, column)) OR \(try sql(right, column)))"
        // In SQL a comparison with a row without a value is neither true nor false.
        case .not(let node): return "(\(try sql(node, column))) IS NOT TRUE"
        }
    }

    /// Adds the same comparison of the column's bounds, by which the table finds the rows.
    private mutating func compare(
        _ name: String, _ comparison: String, _ value: YapDatabaseColumnValue
    ) -> String {
        let exact = "\(name) \(comparison) \(parameter(value))"
        guard let bounds = bounds[name], let bound = value.rTreeBound else { return exact }
        let place = parameter(.real(bound))
        var terms = [exact]
        if !comparison.hasPrefix(">") { terms.append("\(bounds.lower) <= \(place)") }
        if !comparison.hasPrefix("<") { terms.append("\(bounds.upper) >= \(place)") }
        return "(\(terms.joined(separator: " AND ")))"
    }

    /// Returns a range that an index can search: from the prefix to the first text after all texts with the prefix.
    private mutating func hasPrefix(_ name: String, _ prefix: String) -> String {
        guard !prefix.isEmpty else { return "\(name) IS NOT NULL" }
        let start = "\(name) >= \(parameter(.text(prefix)))"
        guard let end = Self.firstText(afterPrefix: prefix) else { return start }
        return "(\(start) AND \(name) < \(parameter(.text(end))))"
    }

    /// Returns the smallest text greater than all texts with the prefix, or nil if there is none.
    static func firstText(afterPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // The surrogates follow U+D7FF, and no text contains them.
            if let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) {
                scalars.append(next)
                var text = String.UnicodeScalarView()
                text.append(contentsOf: scalars)
                return String(text)
            }
        }
        return nil
    }
}
