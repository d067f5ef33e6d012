import SQLite

/// An index in one transaction, which also computes values of its columns. Finds and throws as
/// `YapDatabaseIndexTransaction`.
public final class YapDatabaseSecondaryIndexTransaction<Object: Sendable>: YapDatabaseIndexTransaction<Object>
{
    // MARK: Following

    /// Sets the columns that change, whose SQLite indexes alone are then written.
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

    /// The smallest value of a property that may have none. Parameters as the other form.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .object(path), condition) ?? nil
    }

    /// The smallest value of a property among the rows that a condition finds; nil when none has a value.
    public func minimum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .object(path), condition)
    }

    /// The greatest value of a property that may have none. Parameters as the other form.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value?> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .object(path), condition) ?? nil
    }

    /// The greatest value of a property among the rows that a condition finds; nil when none has a value.
    public func maximum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .object(path), condition)
    }

    /// The sum of a property's numbers; 0 without any. Whole numbers that don't fit are rounded.
    public func sum<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        try reader.sum(.object(path), condition)
    }

    /// The mean of a property's numbers; nil without any.
    public func average<Value: YapDatabaseColumnConvertible>(
        of path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        try reader.average(.object(path), condition)
    }

    /// The different values of a property and how many rows have each, in ascending order.
    public func counts<Value: YapDatabaseColumnConvertible>(
        by path: any KeyPath<Object, Value> & Sendable, where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value, count: Int)] {
        try reader.counts(.object(path), condition)
    }
}
