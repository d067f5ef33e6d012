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
        try rows(filter(condition, readsObjects: true), sort, limit, offset)
    }

    /// The first row that a condition finds. Parameters as `rows`.
    public func first(where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []) throws -> Row? {
        try rows(filter(condition, readsObjects: true), sort, 1, 0).first
    }

    /// The keys of the rows that a condition finds; no object is decoded. Parameters as `rows`.
    public func keys(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [String] {
        try keys(filter(condition), sort, limit, offset)
    }

    /// How many rows a condition finds; no row is read.
    public func count(where condition: ((Properties) -> Condition)? = nil) throws -> Int {
        Int(columnValue: try value("count(*)", filter(condition))) ?? 0
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
        try rows(filter(expression, values), sort, limit, offset)
    }

    /// The keys of the rows for which an expression is true. Parameters and errors as `rows(matching:)`.
    public func keys(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        try keys(filter(expression, values), sort, limit, offset)
    }

    /// How many rows an expression is true for. Parameters and errors as `rows(matching:)`.
    public func count(matching expression: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int {
        Int(columnValue: try value("count(*)", filter(expression, values))) ?? 0
    }

    // MARK: Values

    /// The smallest value of a property that may have none. Parameters as the other form.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try aggregate("min", path, condition) ?? nil
    }

    /// The smallest value of a property among the rows that a condition finds; nil when none has a value.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try aggregate("min", path, condition)
    }

    /// The greatest value of a property that may have none. Parameters as the other form.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try aggregate("max", path, condition) ?? nil
    }

    /// The greatest value of a property among the rows that a condition finds; nil when none has a value.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try aggregate("max", path, condition)
    }

    /// The sum of a property's numbers; 0 without any. Whole numbers that don't fit are rounded.
    public func sum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        Double(columnValue: try value("total(\(column(path)))", filter(condition))) ?? 0
    }

    /// The mean of a property's numbers; nil without any.
    public func average<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        Double(columnValue: try value("avg(\(column(path)))", filter(condition)))
    }

    /// The different values of a property and how many rows have each, in ascending order.
    public func counts<Value: YapDatabaseColumnConvertible>(
        by path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value, count: Int)] {
        let column = try column(path)
        let filter = try self.filter(condition)
        let text = "SELECT \(column), count(*)\(sql.from)\(filter.text) GROUP BY \(column) ORDER BY \(column)"
        return try query(text, filter) { statement in
            var counts: [(value: Value, count: Int)] = []
            while try statement.step() {
                guard let value = Value(columnValue: statement.columnValue(at: 0)) else { continue }
                counts.append((value, Int(statement.int64(at: 1))))
            }
            return counts
        }
    }

    // MARK: Inside

    /// A condition in SQL. Notes that what is read depends on the rows that it finds.
    ///
    /// - Parameter readsObjects: Whether whole objects are read.
    private func filter(_ condition: ((Properties) -> Condition)?, readsObjects: Bool = false) throws
        -> SecondaryIndexWhere
    {
        try transaction.check()
        let condition = condition?(Properties())
        if transaction.dependencies != nil {
            let predicate = try condition.map { try SecondaryIndexPredicate($0, place: place) }
            tables.noteRead { changes in
                (changes as? SecondaryIndexChanges)?.mayChange(predicate, readsObjects: readsObjects) ?? true
            }
        }
        return try SecondaryIndexWhere(condition) { sql.column(try place($0)) }
    }

    /// A condition in SQL's own words, which may read anything of the rows.
    private func filter(_ expression: String, _ values: [YapDatabaseColumnValue]) throws
        -> SecondaryIndexWhere
    {
        try transaction.begin(index.collection)
        return SecondaryIndexWhere(text: expression, values: values)
    }

    private func place(_ path: any AnyKeyPath & Sendable) throws -> Int {
        if let place = index.columns.firstIndex(where: { $0.path == path }) { return place }
        throw YapDatabaseError(
            .invalidExtension,
            "the index \"\(index.name)\" has no column for \(path): add column(\(path)) to it",
            collection: index.collection)
    }

    private func column(_ path: any AnyKeyPath & Sendable) throws -> String { sql.column(try place(path)) }

    private func order(_ sort: [Sort]) throws -> String {
        guard !sort.isEmpty else { return "" }
        let terms = try sort.map { "\(try column($0.path))\($0.order == .descending ? " DESC" : "")" }
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    private func rows(_ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int) throws
        -> [Row]
    {
        try visit("d.rowid, d.key, d.data", filter, sort, limit, offset) { statement in
            let key = statement.text(at: 1)
            let object = try transaction.object(
                Object.self, key, inCollection: index.collection, rowID: statement.int64(at: 0),
                isKept: limit != nil
            ) { decode in try statement.withBytes(at: 2, decode) }
            return (key, object)
        }
    }

    private func keys(_ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int) throws
        -> [String]
    {
        try visit("d.key", filter, sort, limit, offset) { $0.text(at: 0) }
    }

    private func visit<Result>(
        _ wanted: String, _ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int,
        _ read: (borrowing Statement) throws -> Result
    ) throws -> [Result] {
        var filter = filter
        var text = "SELECT \(wanted)\(sql.fromWithRows)\(filter.text)\(try order(sort))"
        if limit != nil || offset > 0 {
            // To SQLite, a negative limit is none.
            text += " LIMIT \(filter.parameter(.integer(Int64(limit.map { max(0, $0) } ?? -1))))"
            text += " OFFSET \(filter.parameter(.integer(Int64(max(0, offset)))))"
        }
        return try query(text, filter) { statement in
            var results: [Result] = []
            while try statement.step() { results.append(try read(statement)) }
            return results
        }
    }

    private func aggregate<Value: YapDatabaseColumnConvertible>(
        _ function: String, _ path: any KeyPath<Object, Value> & Sendable,
        _ condition: ((Properties) -> Condition)?
    ) throws -> Value? {
        let column = try column(path)
        let found = try value("\(function)(\(column))", filter(condition))
        return found == .null ? nil : Value(columnValue: found)
    }

    private func value(_ expression: String, _ filter: SecondaryIndexWhere) throws -> YapDatabaseColumnValue {
        try query("SELECT \(expression)\(sql.from)\(filter.text)", filter) {
            try $0.step() ? $0.columnValue(at: 0) : .null
        }
    }

    private func query<Result>(
        _ text: String, _ filter: SecondaryIndexWhere, _ read: (borrowing Statement) throws -> Result
    ) throws -> Result {
        try tables.withStatement(text, filter.values, isKept: filter.isKept, read)
    }
}
