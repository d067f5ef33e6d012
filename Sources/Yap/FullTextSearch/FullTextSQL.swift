import SQLite

/// SQL statements on the FTS5 table of one full-text search.
struct FullTextSQL: Sendable {
    let find: String
    let write: String
    let delete: String
    let deleteAll: String
    /// The table, as `i`.
    let from: String
    /// The same joined with the rows, as `d`.
    let fromWithRows: String
    /// The rowids that a query in FTS5's syntax finds. FTS5 names its table by a hidden column of that name.
    private let found: String
    /// The hidden column, which is an argument of FTS5's functions.
    let table: String
    /// Columns in the form that conditions use, in order.
    let columns: [String]
    /// Columns in FTS5's syntax.
    let filters: [String]
    /// Condition that makes `rank` use the weights.
    let weighted: String

    init(table name: String, columns names: [String], weights: [Double]) {
        let quoted = Connection.quoted(name)
        let list = names.map(Connection.quoted).joined(separator: ", ")
        let values = (0..<names.count).map { "?\($0 + 2)" }.joined(separator: ", ")
        table = "i.\(quoted)"
        columns = names.map { "i.\(Connection.quoted($0))" }
        filters = names.map(Connection.quoted)
        weighted = " AND i.rank MATCH 'bm25(\(weights.map(Self.decimal).joined(separator: ", ")))'"
        find = "SELECT \(list) FROM \(quoted) WHERE rowid = ?1"
        write = "INSERT OR REPLACE INTO \(quoted) (rowid, \(list)) VALUES (?1, \(values))"
        delete = "DELETE FROM \(quoted) WHERE rowid = ?1"
        deleteAll = "DELETE FROM \(quoted)"
        from = " FROM \(quoted) AS i"
        fromWithRows = " FROM \(quoted) AS i CROSS JOIN database2 AS d ON d.rowid = i.rowid"
        found = "SELECT rowid FROM \(quoted) WHERE \(quoted) MATCH"
    }

    /// Returns a non-negative number in a form that FTS5 reads, without an exponent.
    static func decimal(_ number: Double) -> String {
        let parts = "\(number.magnitude)".split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return parts.joined() }
        let digits = Array(parts[0].filter { $0 != "." })
        let place = parts[0].prefix { $0 != "." }.count + exponent
        if place <= 0 { return "0." + String(repeating: "0", count: -place) + String(digits) }
        if place >= digits.count {
            return String(digits) + String(repeating: "0", count: place - digits.count) + ".0"
        }
        return String(digits[..<place]) + "." + String(digits[place...])
    }

    /// Returns the statements that create the table.
    static func create(
        table: String, columns: [String], tokenizer: YapDatabaseTextTokenizer, prefixes: [Int]
    ) -> String {
        let names = columns.map(Connection.quoted).joined(separator: ", ")
        let lengths = prefixes.map(String.init).joined(separator: " ")
        let prefix = prefixes.isEmpty ? "" : ", prefix = '\(lengths)'"
        let quoted = Connection.quoted(table)
        return "DROP TABLE IF EXISTS \(quoted);"
            + "CREATE VIRTUAL TABLE \(quoted) USING fts5(\(names), tokenize = '\(tokenizer.option)'\(prefix))"
    }

    /// Returns the condition for rows that a query in FTS5's syntax finds, to combine with other conditions.
    func isFound(by parameter: String) -> String { "i.rowid IN (\(found) \(parameter))" }
}
