import SQLite

/// An index in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, `invalidExtension` for a
/// property that isn't in the index, `decoding`, or what the file gave.
public final class YapDatabaseRTreeIndexTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// The properties in the closure of a condition.
    public typealias Properties = YapDatabaseIndexProperties<Object>
    /// Which rows a query finds.
    public typealias Condition = YapDatabaseIndexCondition<Object>
    /// What a query sorts by.
    public typealias Sort = YapDatabaseIndexSort<Object>
    /// A coordinate of the point that rows are near to.
    public typealias Position = YapDatabaseRTreePosition<Object>
    /// A row that a query found.
    public typealias Row = (key: String, object: Object)

    let connection: YapDatabaseRTreeIndexConnection<Object>
    /// Held until the transaction ends, which lets go of its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    /// What this transaction has changed.
    var changes = SecondaryIndexChanges()
    var index: YapDatabaseRTreeIndex<Object> { connection.index }
    var sql: RTreeSQL { connection.sql }
    private var reader: IndexReader<Object> {
        IndexReader(
            transaction: transaction, tables: tables, name: index.name, collection: index.collection,
            columns: index.columns, sql: sql.exact, bounds: sql.bounds)
    }

    init(
        _ connection: YapDatabaseRTreeIndexConnection<Object>, _ transaction: YapDatabaseReadTransaction,
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
    ///   - offset: How many rows are passed over. They are still visited.
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

    // MARK: Finding the nearest

    /// The rows nearest to a point, the nearest first, each with its distance. Rows of equal distances are in a fixed
    /// order.
    ///
    /// ```swift
    /// try $0[places].rows(nearest: [.at(\.longitude, 8.4, scale: 0.65), .at(\.latitude, 49)], limit: 10)
    /// ```
    ///
    /// The distance is the square root of the sum of the squared differences in the dimensions. The difference of a
    /// range is 0 for a value in it. Degrees aren't metres: the scale of a longitude is the cosine of the latitude.
    /// Distances beyond 10^150 may count as equal.
    ///
    /// - Parameters:
    ///   - positions: The point's coordinate in each dimension that counts.
    ///   - limit: The most rows.
    ///   - condition: Which rows; without it, all of the index.
    /// - Throws: also `invalidExtension` without a position, for two in one dimension, for a coordinate that isn't a
    ///   finite number, and for a scale that isn't greater than 0.
    public func rows(
        nearest positions: [Position], limit: Int, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(key: String, object: Object, distance: Double)] {
        try nearest(positions, limit, condition, readsObjects: true).compactMap { found in
            try tables.withStatement(sql.row, [.integer(found.rowID)]) { statement in
                guard try statement.step() else { return nil }
                let row = try reader.row(statement, isKept: true)
                return (row.key, row.object, found.distance)
            }
        }
    }

    /// The keys of the rows nearest to a point; no object is decoded. Parameters and errors as `rows(nearest:)`.
    public func keys(
        nearest positions: [Position], limit: Int, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(key: String, distance: Double)] {
        try nearest(positions, limit, condition, readsObjects: false).compactMap { found in
            try tables.withStatement(sql.key, [.integer(found.rowID)]) { statement in
                try statement.step() ? (statement.text(at: 1), found.distance) : nil
            }
        }
    }

    private func nearest(
        _ positions: [Position], _ limit: Int, _ condition: ((Properties) -> Condition)?, readsObjects: Bool
    ) throws -> [RTreeNearest<Object>.Found] {
        try transaction.check()
        let reader = reader
        let distance = try distance(from: positions)
        let condition = condition?(Properties())
        let found = try RTreeNearest(
            reader: reader, sql: sql, distance: distance, filter: try reader.filter(condition), limit: limit
        ).find()
        // Rows that are farther than the last one don't change the result.
        let farthest = found.count < limit ? .infinity : found.last?.distance ?? 0
        try reader.noteRead(readsObjects: readsObjects) {
            let predicate = try reader.predicate(condition)
            return SecondaryIndexPredicate { values in
                distance.isWithin(farthest, values) && predicate?.finds(values) ?? true
            }
        }
        return found
    }

    private func distance(from positions: [Position]) throws -> RTreeDistance {
        let axes = try positions.map { position in
            let place = try reader.place(position.path)
            guard let dimension = index.dimensions.first(where: { $0.from == place || $0.to == place }),
                let value = position.value.rTreeNumber, value.isFinite,
                position.scale.isFinite, position.scale > 0
            else { throw mistake("\(position.value) with the scale \(position.scale) is no position") }
            return RTreeDistance.Axis(dimension: dimension, value: value, scale: position.scale)
        }
        if axes.isEmpty { throw mistake("rows are nearest to a point, which has no position") }
        if Set(axes.map(\.dimension.lower)).count < axes.count {
            throw mistake("a point has two positions in one dimension")
        }
        return RTreeDistance(axes: axes)
    }

    private func mistake(_ words: String) -> YapDatabaseError {
        YapDatabaseError(
            .invalidExtension, "the index \"\(index.name)\": \(words)", collection: index.collection)
    }

    // MARK: Finding by SQL

    /// The rows for which an expression in SQL is true, over the columns' names.
    ///
    /// ```swift
    /// try $0[places].rows(
    ///     matching: "longitude_max >= ?1 AND longitude_min <= ?2 AND abs(longitude - latitude) < 1",
    ///     [.real(8.4), .real(8.7)])
    /// ```
    ///
    /// The tree finds rows by comparisons with bounds: those of `longitude` are `longitude_min` and `longitude_max`.
    /// They have 32 bits and are rounded outwards. Comparisons with `longitude` itself are exact, and visit all rows
    /// that the bounds leave.
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
}
