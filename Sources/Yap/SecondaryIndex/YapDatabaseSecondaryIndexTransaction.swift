import SQLite

/// An index in one transaction, with queries and aggregates. Errors are those of `YapDatabaseIndexTransaction`.
public final class YapDatabaseSecondaryIndexTransaction<Object: Sendable>: YapDatabaseIndexTransaction<Object>
{
    // MARK: Following

    /// Sets the changed columns, so that only their SQLite indexes are written.
    override func replace(_ rowID: Int64, _ before: [YapDatabaseColumnValue], by entry: IndexEntry) throws {
        let values = entry.values
        for place in values.indices where before[place] != values[place] {
            try tables.withStatement(table.sql.set[place], [.integer(rowID), values[place]]) { try $0.run() }
        }
    }

    override func delete(_ rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        try tables.withStatement(table.delete, [.integer(rowID)]) { statement in
            let columns = try statement.step() ? statement.columnValues : nil
            while try statement.step() {}
            return columns
        }
    }

    // MARK: Values

    /// Returns the smallest value of an optional property. Parameters: see the other form.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .object(path), condition) ?? nil
    }

    /// Returns the smallest value of a property among the rows that a condition finds, or nil if none has a value.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .object(path), condition)
    }

    /// Returns the greatest value of an optional property. Parameters: see the other form.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .object(path), condition) ?? nil
    }

    /// Returns the greatest value of a property among the rows that a condition finds, or nil if none has a value.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .object(path), condition)
    }

    /// Returns the sum of a property's numbers, or 0 if there are none. Whole numbers that don't fit are rounded.
    public func sum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        try reader.sum(.object(path), condition)
    }

    /// Returns the mean of a property's numbers, or nil if there are none.
    public func average<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        try reader.average(.object(path), condition)
    }

    /// Returns the distinct values of a property, each with its number of rows, in ascending order.
    public func counts<Value: YapDatabaseColumnConvertible>(
        by path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value, count: Int)] {
        try reader.counts(.object(path), condition)
    }
}
