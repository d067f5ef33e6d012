import SQLite

/// An index in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, `invalidExtension` for a
/// property that is no column, `decoding`, or what the file gave.
public final class YapDatabaseSecondaryIndexTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// The properties in the closure of a condition.
    public typealias Properties = YapDatabaseIndexProperties<Object>
    /// Which rows a query finds.
    public typealias Condition = YapDatabaseIndexCondition<Object>
    /// What a query sorts by.
    public typealias Sort = YapDatabaseIndexSort<Object>
    /// A row that a query found.
    public typealias Row = (key: String, object: Object)

    let connection: YapDatabaseSecondaryIndexConnection<Object>
    /// Held until the transaction ends, which lets go of its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    /// What this transaction has changed.
    var changes = SecondaryIndexChanges()
    var index: YapDatabaseSecondaryIndex<Object> { connection.index }
    var sql: SecondaryIndexSQL { connection.sql }
    private var reader: IndexReader<Object> {
        IndexReader(
            transaction: transaction, tables: tables, name: index.name, collection: index.collection,
            columns: index.columns, sql: sql)
    }

    init(
        _ connection: YapDatabaseSecondaryIndexConnection<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
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
        try reader.rows(reader.filter(condition, readsObjects: true), sort, limit, offset)
    }

    /// The first row that a condition finds. Parameters as `rows`.
    public func first(where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []) throws -> Row? {
        try reader.rows(reader.filter(condition, readsObjects: true), sort, 1, 0).first
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
    /// - Parameters:
    ///   - expression: SQL. What a person typed belongs into `values`.
    ///   - values: The values of `?1`, `?2` and so on.
    /// - Throws: also `sqlite` with SQLite's message for a mistake in the expression.
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

    // MARK: Values

    /// The smallest value of a property that may have none. Parameters as the other form.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", path, condition) ?? nil
    }

    /// The smallest value of a property among the rows that a condition finds; nil when none has a value.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", path, condition)
    }

    /// The greatest value of a property that may have none. Parameters as the other form.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", path, condition) ?? nil
    }

    /// The greatest value of a property among the rows that a condition finds; nil when none has a value.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", path, condition)
    }

    /// The sum of a property's numbers; 0 without any. Whole numbers that don't fit are rounded.
    public func sum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        Double(columnValue: try reader.value("total(\(reader.column(path)))", reader.filter(condition))) ?? 0
    }

    /// The mean of a property's numbers; nil without any.
    public func average<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        Double(columnValue: try reader.value("avg(\(reader.column(path)))", reader.filter(condition)))
    }

    /// The different values of a property and how many rows have each, in ascending order.
    public func counts<Value: YapDatabaseColumnConvertible>(
        by path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value, count: Int)] {
        let column = try reader.column(path)
        let filter = try reader.filter(condition)
        let text = "SELECT \(column), count(*)\(sql.from)\(filter.text) GROUP BY \(column) ORDER BY \(column)"
        return try reader.query(text, filter) { statement in
            var counts: [(value: Value, count: Int)] = []
            while try statement.step() {
                guard let value = Value(columnValue: statement.columnValue(at: 0)) else { continue }
                counts.append((value, Int(statement.int64(at: 1))))
            }
            return counts
        }
    }
}
