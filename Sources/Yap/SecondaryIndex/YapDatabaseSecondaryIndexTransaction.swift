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

    private let connection: YapDatabaseSecondaryIndexConnection<Object>
    /// Held until the transaction ends, which lets go of its extensions.
    private let transaction: YapDatabaseReadTransaction
    private let tables: YapDatabaseExtensionTables
    private var index: YapDatabaseSecondaryIndex<Object> { connection.index }
    private var sql: SecondaryIndexSQL { connection.sql }

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
        try rows(compiled(condition), sort, limit, offset)
    }

    /// The first row that a condition finds. Parameters as `rows`.
    public func first(where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []) throws -> Row? {
        try rows(compiled(condition), sort, 1, 0).first
    }

    /// The keys of the rows that a condition finds; no object is decoded. Parameters as `rows`.
    public func keys(
        where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> [String] {
        try keys(compiled(condition), sort, limit, offset)
    }

    /// How many rows a condition finds; no row is read.
    public func count(where condition: ((Properties) -> Condition)? = nil) throws -> Int {
        Int(columnValue: try value("count(*)", compiled(condition))) ?? 0
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
        try rows(SecondaryIndexWhere(text: expression, values: values), sort, limit, offset)
    }

    /// The keys of the rows for which an expression is true. Parameters and errors as `rows(matching:)`.
    public func keys(
        matching expression: String, _ values: [YapDatabaseColumnValue] = [], sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [String] {
        try keys(SecondaryIndexWhere(text: expression, values: values), sort, limit, offset)
    }

    /// How many rows an expression is true for. Parameters and errors as `rows(matching:)`.
    public func count(matching expression: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int {
        let filter = SecondaryIndexWhere(text: expression, values: values)
        return Int(columnValue: try value("count(*)", filter)) ?? 0
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
        Double(columnValue: try value("total(\(column(path)))", compiled(condition))) ?? 0
    }

    /// The mean of a property's numbers; nil without any.
    public func average<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        Double(columnValue: try value("avg(\(column(path)))", compiled(condition)))
    }

    /// The different values of a property and how many rows have each, in ascending order.
    public func counts<Value: YapDatabaseColumnConvertible>(
        by path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value, count: Int)] {
        let column = try column(path)
        let filter = try compiled(condition)
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

    // MARK: Following the rows

    /// Makes the table anew, unless it is as this version wants it.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try index.check()
        try checkCollection()
        if let previous, previous.versionTag == index.versionTag, !previous.hasMissedCommits,
            previous.classVersion == YapDatabaseSecondaryIndex<Object>.classVersion
        {
            return .isUnchanged
        }
        try tables.execute(index.create(connection.table))
        return .isEmpty
    }

    /// Adds rows that were there before.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        for row in rows { try add(row.identity.rowID, row.object) }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _): try add(row.rowID, object)
        case .update(let row, let object, _), .replaceObject(let row, let object):
            try update(row.rowID, object)
        case .remove(let rows): for row in rows { try remove(row.rowID) }
        case .removeAll: try tables.withStatement(sql.deleteAll) { try $0.run() }
        case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// Keeps nothing in memory.
    public func makeRestorePoint() throws -> () -> Void { {} }

    /// Rows of a collection whose type isn't registered could not be handed over.
    private func checkCollection() throws {
        let registered = try transaction.store.registered(index.collection).registration.object
        guard registered.typeID == ObjectIdentifier(Object.self) else {
            throw YapDatabaseError(
                .typeMismatch,
                "the index \"\(index.name)\" is of \(Object.self), the registered type is \(registered.typeName)",
                collection: index.collection)
        }
    }

    private func add(_ rowID: Int64, _ object: any Sendable) throws {
        guard let values = try values(of: object) else { return }
        try tables.withStatement(sql.insert, [.integer(rowID)] + values) { try $0.run() }
    }

    private func update(_ rowID: Int64, _ object: any Sendable) throws {
        guard let values = try values(of: object) else { return try remove(rowID) }
        let changed: [Int]? = try tables.withStatement(sql.find, [.integer(rowID)]) { statement in
            guard try statement.step() else { return nil }
            return values.indices.filter { statement.columnValue(at: Int32($0)) != values[$0] }
        }
        guard let changed else { return try add(rowID, object) }
        for place in changed {
            try tables.withStatement(sql.set[place], [.integer(rowID), values[place]]) { try $0.run() }
        }
    }

    private func remove(_ rowID: Int64) throws {
        try tables.withStatement(sql.delete, [.integer(rowID)]) { try $0.run() }
    }

    /// The columns' values; nil for an object that doesn't belong into the index.
    private func values(of object: any Sendable) throws -> [YapDatabaseColumnValue]? {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the index \"\(index.name)\" is of \(Object.self), the object is a \(type(of: object))",
                collection: index.collection)
        }
        return index.isIncluded(object) ? index.columns.map { $0.value(object) } : nil
    }

    // MARK: Inside

    private func compiled(_ condition: ((Properties) -> Condition)?) throws -> SecondaryIndexWhere {
        try SecondaryIndexWhere(condition?(Properties())) { try column($0) }
    }

    private func column(_ path: any AnyKeyPath & Sendable) throws -> String {
        guard let place = index.columns.firstIndex(where: { $0.path == path }) else {
            throw YapDatabaseError(
                .invalidExtension,
                "the index \"\(index.name)\" has no column for \(path): add column(\(path)) to it",
                collection: index.collection)
        }
        return sql.column(place)
    }

    private func order(_ sort: [Sort]) throws -> String {
        guard !sort.isEmpty else { return "" }
        let terms = try sort.map { "\(try column($0.path))\($0.order == .descending ? " DESC" : "")" }
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    private func noteRead() throws { try transaction.begin(index.collection) }

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
        let found = try value("\(function)(\(column))", compiled(condition))
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
        try noteRead()
        return try tables.withStatement(text, filter.values, isKept: filter.isKept, read)
    }
}
