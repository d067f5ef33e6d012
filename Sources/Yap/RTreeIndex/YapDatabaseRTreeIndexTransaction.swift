import SQLite

/// An R-tree index in one transaction, which also finds the rows nearest to a point. Errors are those of
/// `YapDatabaseIndexTransaction`.
public final class YapDatabaseRTreeIndexTransaction<Object: Sendable>: YapDatabaseIndexTransaction<Object> {
    /// A coordinate of the point of a query.
    public typealias Position = YapDatabaseRTreePosition<Object>

    private let connection: YapDatabaseRTreeIndexConnection<Object>
    private var index: YapDatabaseRTreeIndex<Object> { connection.index }
    private var sql: RTreeSQL { connection.sql }

    init(
        _ connection: YapDatabaseRTreeIndexConnection<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        super.init(connection.table, transaction, tables)
    }

    // MARK: Finding the nearest

    /// Returns the rows nearest to a point, nearest first, each with its distance. Rows of equal distances are in a
    /// fixed order.
    ///
    /// ```swift
    /// let near = try transaction[places].rows(
    ///     nearest: [.at(\.longitude, 8.4, scale: 0.65), .at(\.latitude, 49)], limit: 10)
    /// ```
    ///
    /// The distance is the square root of the sum of the squared differences in the dimensions. The difference of a
    /// range is 0 for a value in it. Degrees aren't metres: the scale of a longitude is the cosine of the latitude.
    /// Distances beyond 10^150 may count as equal.
    ///
    /// - Parameters:
    ///   - positions: The point's coordinate in each dimension that counts.
    ///   - limit: Maximum number of rows.
    ///   - condition: The condition. Default: all rows of the index.
    /// - Throws: Also `invalidExtension` without a position, for two in one dimension, for a coordinate that isn't
    ///   finite, and for a scale that isn't greater than 0.
    public func rows(
        nearest positions: [Position], limit: Int, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(key: String, object: Object, distance: Double)] {
        try nearest(positions, limit, condition, reads: .objects).compactMap { found in
            try tables.withStatement(sql.row, [.integer(found.rowID)]) { statement in
                guard try statement.step() else { return nil }
                let row = try reader.row(statement, isKept: true)
                return (row.key, row.object, found.distance)
            }
        }
    }

    /// Returns the keys of the rows nearest to a point, without decoding objects. Parameters and errors: see
    /// `rows(nearest:)`.
    public func keys(
        nearest positions: [Position], limit: Int, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(key: String, distance: Double)] {
        try nearest(positions, limit, condition, reads: .columns).compactMap { found in
            try tables.withStatement(sql.key, [.integer(found.rowID)]) { statement in
                try statement.step() ? (statement.text(at: 1), found.distance) : nil
            }
        }
    }

    private func nearest(
        _ positions: [Position], _ limit: Int, _ condition: ((Properties) -> Condition)?, reads: IndexReads
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
        try reader.noteRead(reads) {
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

    func mistake(_ words: String) -> YapDatabaseError {
        YapDatabaseError(
            .invalidExtension, "the index \"\(index.name)\": \(words)", collection: index.collection)
    }
}
