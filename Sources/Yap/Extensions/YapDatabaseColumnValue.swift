import SQLite
import System

/// A value in a column of an SQLite table: one of SQLite's five storage classes.
///
/// SQLite orders values of different classes: null, then numbers, then texts by their UTF-8 bytes, then blobs by their
/// bytes (https://www.sqlite.org/datatype3.html).
public enum YapDatabaseColumnValue: Hashable, Sendable {
    /// No value.
    case null
    /// A whole number.
    case integer(Int64)
    /// A floating-point number. SQLite stores NaN as null.
    case real(Double)
    /// A text.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// Returns true if both are equal. Texts are equal if their bytes are, as in SQLite.
    public static func == (left: YapDatabaseColumnValue, right: YapDatabaseColumnValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }
}

extension Statement {
    func bind(_ value: YapDatabaseColumnValue, at index: Int32) throws {
        switch value {
        case .null: try bindNull(at: index)
        case .integer(let number): try bind(number, at: index)
        case .real(let number): try bind(number, at: index)
        case .text(let text): try bind(text, at: index)
        case .blob(let bytes): try bind(bytes, at: index)
        }
    }

    /// The values of the statement's current row.
    var columnValues: [YapDatabaseColumnValue] { (0..<columnCount).map { columnValue(at: $0) } }

    func columnValue(at column: Int32) -> YapDatabaseColumnValue {
        switch kind(at: column) {
        case .null: .null
        case .integer: .integer(int64(at: column))
        case .real: .real(double(at: column))
        case .text: .text(text(at: column))
        case .blob: .blob(bytes(at: column))
        }
    }
}
