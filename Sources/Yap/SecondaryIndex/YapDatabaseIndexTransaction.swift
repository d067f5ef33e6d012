import SQLite

/// What a `YapDatabaseSecondaryIndex` and a `YapDatabaseRTreeIndex` can do in one transaction. Each call throws
/// `YapDatabaseError`: `transactionEnded`, `invalidExtension` for a property that isn't in the index, `decoding`, or
/// what the file gave.
public class YapDatabaseIndexTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// The properties in the closure of a condition.
    public typealias Properties = YapDatabaseIndexProperties<Object>
    /// Which rows a query finds.
    public typealias Condition = YapDatabaseIndexCondition<Object>
    /// What a query sorts by.
    public typealias Sort = YapDatabaseIndexSort<Object>
    /// A row that a query found.
    public typealias Row = (key: String, object: Object)

    /// Held until the transaction ends, which lets go of its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    let table: IndexTable<Object>
    /// What this transaction has changed.
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

    /// Inserts a row that the index doesn't have.
    func insert(_ rowID: Int64, _ entry: IndexEntry) throws {
        try tables.withStatement(table.insert, [.integer(rowID)] + entry.bounds + entry.values) {
            try $0.run()
        }
    }

    /// Replaces a row whose values change.
    func replace(_ rowID: Int64, _ before: [YapDatabaseColumnValue], by entry: IndexEntry) throws {
        try insert(rowID, entry)
    }

    /// Deletes a row, if the index has it, and returns its values.
    func delete(_ rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        guard let before = try values(ofRow: rowID) else { return nil }
        try tables.withStatement(table.delete, [.integer(rowID)]) { try $0.run() }
        return before
    }

    // MARK: Finding

    /// The rows that a condition finds, with their keys.
    ///
    /// - Parameters:
    ///   - condition: Which rows; without it, all of the index.
    ///   - sort: Their order; without it, and among equal ones, no order is promised.
    ///   - limit: The most rows; without it, all of them.
    ///   - offset: How many rows are passed over. They are still visited: for the next page of a long list, a condition
    ///     on the last value is quicker.
    public func rows(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [Row] {
        try reader.rows(reader.filter(condition, reads: .objects), sort, limit, offset)
    }

    /// The first row that a condition finds. Parameters as `rows`.
    public func first(where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []) throws -> Row? {
        try reader.rows(reader.filter(condition, reads: .objects), sort, 1, 0).first
    }

    /// The keys of the rows that a condition finds; no object is decoded. Parameters as `rows`.
    public func keys(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [String] {
        try reader.keys(reader.filter(condition), sort, limit, offset)
    }

    /// How many rows a condition finds; no row is read.
    public func count(where condition: ((Properties) -> Condition)? = nil) throws -> Int {
        try reader.count(reader.filter(condition))
    }

    // MARK: Finding by SQL

    /// The rows for which an expression in SQL is true, over the columns' names.
    ///
    /// ```swift
    /// try $0[byDue].rows(matching: "due < ?1 AND abs(priority) >= ?2", [now.columnValue, .integer(3)])
    /// ```
    ///
    /// A `YapDatabaseRTreeIndex` finds rows by comparisons with bounds: those of `longitude` are `longitude_min` and
    /// `longitude_max`. They have 32 bits and are rounded outwards. Comparisons with `longitude` itself are exact, and
    /// visit all rows that the bounds leave.
    ///
    /// ```swift
    /// try $0[places].rows(
    ///     matching: "longitude_max >= ?1 AND longitude_min <= ?2 AND abs(longitude - latitude) < 1",
    ///     [.real(8.4), .real(8.7)])
    /// ```
    ///
    /// - Parameters:
    ///   - expression: SQL. What a person typed belongs into `values`.
    ///   - values: The values of `?1`, `?2` and so on, one for each.
    /// - Throws: also `invalidExtension` if there are more or fewer values than parameters, and `sqlite` with SQLite's
    ///   message for a mistake in the expression.
    public func rows(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Row] {
        try reader.rows(reader.filter(expression, values), sort, limit, offset)
    }

    /// The keys of the rows for which an expression is true. Parameters and errors as `rows(matching:)`.
    public func keys(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        try reader.keys(reader.filter(expression, values), sort, limit, offset)
    }

    /// How many rows an expression is true for. Parameters and errors as `rows(matching:)`.
    public func count(matching expression: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int {
        try reader.count(reader.filter(expression, values))
    }
}
