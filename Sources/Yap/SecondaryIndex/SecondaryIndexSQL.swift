import SQLite

/// The statements on the table of one index.
struct SecondaryIndexSQL: Sendable {
    let find: String
    let insert: String
    /// Sets one column, whose SQLite indexes alone are then written.
    let set: [String]
    /// Deletes a row and returns its columns.
    let delete: String
    let deleteAll: String
    /// The table, by the name that conditions use.
    let from: String
    /// The same with the rows themselves: an index decides the order in which they are visited.
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

    /// The statements that make the table.
    ///
    /// - Parameter indexes: The SQLite indexes, each with the places of its columns.
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

    /// The column as conditions name it.
    func column(_ place: Int) -> String { columns[place] }
}

/// Two more columns of an index, which its table finds rows by: one that is never greater than a property's column,
/// and one that is never less.
struct IndexBounds: Sendable {
    let lower: String
    let upper: String
}

/// The SQL of a query's condition, with the values of its parameters.
struct SecondaryIndexWhere {
    /// Of queries with more values than this there are too many texts to keep each prepared.
    private static let keptValuesMax = 32

    private(set) var text = ""
    private(set) var values: [YapDatabaseColumnValue] = []
    private var bounds: [String: IndexBounds] = [:]
    /// Number of values that the app gave. Some are in `values` twice.
    private var givenCount = 0

    /// - Parameters:
    ///   - bounds: The bounds of columns, by the SQL of these.
    ///   - column: returns the SQL of a property's column.
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

    /// A condition in SQL's own words.
    init(text: String, values: [YapDatabaseColumnValue]) {
        self.text = " WHERE (\(text)\n)"
        self.values = values
    }

    /// Whether its statement is worth keeping.
    var isKept: Bool { values.count <= Self.keptValuesMax }

    /// Adds an expression that must be true too.
    mutating func add(_ expression: String) {
        text += (text.isEmpty ? " WHERE " : " AND ") + expression
    }

    /// Adds the values of parameters with names.
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
            // Nothing is less than no value; only `==` finds it.
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
        // A comparison with a row that has no value is neither true nor false in SQL.
        case .not(let node): return "(\(try sql(node, column))) IS NOT TRUE"
        }
    }

    /// What is true of the column is also true of its bounds, by which the table finds the rows.
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

    /// A range, which an index finds: from the prefix to the first text after all that begin with it.
    private mutating func hasPrefix(_ name: String, _ prefix: String) -> String {
        guard !prefix.isEmpty else { return "\(name) IS NOT NULL" }
        let start = "\(name) >= \(parameter(.text(prefix)))"
        guard let end = Self.firstText(afterPrefix: prefix) else { return start }
        return "(\(start) AND \(name) < \(parameter(.text(end))))"
    }

    /// The smallest text that is greater than each one with the prefix; nil when there is none.
    static func firstText(afterPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // After U+D7FF come the surrogates, which no text has.
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
