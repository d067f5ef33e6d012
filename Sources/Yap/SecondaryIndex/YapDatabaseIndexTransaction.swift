import SQLite

/// Common methods of a `YapDatabaseSecondaryIndex` and a `YapDatabaseRTreeIndex` in one transaction. Each call throws
/// `YapDatabaseError`: `transactionEnded`, `invalidExtension` for a property that isn't in the index, `decoding`, or
/// an error of the file.
public class YapDatabaseIndexTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// Properties in the closure of a condition.
    public typealias Properties = YapDatabaseIndexProperties<Object>
    /// Condition of a query.
    public typealias Condition = YapDatabaseIndexCondition<Object>
    /// A value to sort by.
    public typealias Sort = YapDatabaseIndexSort<Object>
    /// A row that a query found.
    public typealias Row = (key: String, object: Object)

    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    let table: IndexTable<Object>
    /// Changes of this transaction.
    var changes = SecondaryIndexChanges()
    var reader: IndexReader<Object> {
        IndexReader(transaction: transaction, tables: tables, table: table)
    }

    init(
        _ table: IndexTable<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        (self.table, self.transaction, self.tables) = (table, transaction, tables)
    }

    // MARK: Following

    /// Inserts a row that isn't in the index.
    func insert(_ rowID: Int64, _ entry: IndexEntry) throws {
        try tables.withStatement(table.insert, [.integer(rowID)] + entry.bounds + entry.values) {
            try $0.run()
        }
    }

    /// Replaces a row with changed values.
    func replace(_ rowID: Int64, _ before: [YapDatabaseColumnValue], by entry: IndexEntry) throws {
        try insert(rowID, entry)
    }

    /// Deletes a row, if it is in the index, and returns its values.
    func delete(_ rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        guard let before = try values(ofRow: rowID) else { return nil }
        try tables.withStatement(table.delete, [.integer(rowID)]) { try $0.run() }
        return before
    }

    // MARK: Finding

    /// Returns the rows that a condition finds, with their keys.
    ///
    /// ```swift
    /// let late = try transaction[byDue].rows(where: { $0.due < now }, sort: [.by(\.due)], limit: 50)
    /// ```
    ///
    /// - Parameters:
    ///   - condition: The condition. Default: all rows of the index.
    ///   - sort: The order. Without it, and among equal rows, the order is unspecified.
    ///   - limit: Maximum number of rows. Default: all.
    ///   - offset: Number of rows to skip. They are still visited: for the next page of a long list, a condition on
    ///     the last value is faster.
    public func rows(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Row] {
        try reader.rows(reader.filter(condition, reads: .objects), sort, limit, offset)
    }

    /// Returns the first row that a condition finds, or nil. Parameters: see `rows(where:)`.
    public func first(where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []) throws -> Row? {
        try reader.rows(reader.filter(condition, reads: .objects), sort, 1, 0).first
    }

    /// Returns the keys of the rows that a condition finds, without decoding objects. Parameters: see `rows(where:)`.
    public func keys(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [String] {
        try reader.keys(reader.filter(condition), sort, limit, offset)
    }

    /// Returns the number of rows that a condition finds, without reading rows.
    public func count(where condition: ((Properties) -> Condition)? = nil) throws -> Int {
        try reader.count(reader.filter(condition))
    }

    // MARK: Finding by SQL

    /// Returns the rows for which an SQL expression over the columns' names is true.
    ///
    /// ```swift
    /// let late = try transaction[byDue].rows(
    ///     matching: "due < ?1 AND abs(priority) >= ?2", [now.columnValue, .integer(3)])
    /// ```
    ///
    /// A `YapDatabaseRTreeIndex` finds rows by comparisons with bounds: those of `longitude` are `longitude_min` and
    /// `longitude_max`. They have 32 bits and are rounded outwards. Comparisons with `longitude` itself are exact,
    /// and visit all rows within the bounds.
    ///
    /// ```swift
    /// let found = try transaction[places].rows(
    ///     matching: "longitude_max >= ?1 AND longitude_min <= ?2 AND abs(longitude - latitude) < 1",
    ///     [.real(8.4), .real(8.7)])
    /// ```
    ///
    /// - Parameters:
    ///   - expression: SQL. Pass user input in `values`, never in the expression.
    ///   - values: The values of `?1`, `?2` and so on, one for each.
    ///   - sort: The order, by the first element first.
    ///   - limit: Maximum number of rows, or nil for all.
    ///   - offset: Number of rows to skip.
    /// - Throws: Also `invalidExtension` if there are more or fewer values than parameters, and `sqlite` with
    ///   SQLite's message for a mistake in the expression.
    public func rows(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Row] {
        try reader.rows(reader.filter(expression, values), sort, limit, offset)
    }

    /// Returns the keys of the rows for which an expression is true. Parameters and errors: see `rows(matching:)`.
    public func keys(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        try reader.keys(reader.filter(expression, values), sort, limit, offset)
    }

    /// Returns the number of rows for which an expression is true. Parameters and errors: see `rows(matching:)`.
    public func count(matching expression: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int {
        try reader.count(reader.filter(expression, values))
    }
}
