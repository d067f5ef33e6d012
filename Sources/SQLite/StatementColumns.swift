import CSQLite

/// Reading the current row after `step()`. Columns count from 0; SQLite converts between types as documented in its
/// manual.
extension Statement {
    /// Returns true if the column is NULL.
    @inlinable
    public func isNull(at column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    /// SQLite's storage classes.
    public enum Kind: Sendable { case null, integer, real, text, blob }

    /// Returns the column's storage class before any conversion.
    public func kind(at column: Int32) -> Kind {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Returns the column as a whole number. NULL is 0.
    @inlinable
    public func int64(at column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    /// Returns the column as a floating-point number. NULL is 0.
    @inlinable
    public func double(at column: Int32) -> Double {
        sqlite3_column_double(pointer, column)
    }

    /// Returns the column as text. NULL is empty. Bytes that aren't UTF-8 become U+FFFD.
    public func text(at column: Int32) -> String {
        guard let start = sqlite3_column_text(pointer, column) else { return "" }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a copy of the column's bytes. NULL is empty.
    public func bytes(at column: Int32) -> [UInt8] {
        withBytes(at: column) { Array($0) }
    }

    /// Lends the column's bytes to `body` without a copy. NULL is empty.
    ///
    /// SQLite owns them, and they are invalid after the next step: don't keep the pointer, and don't step inside
    /// `body`.
    @inlinable
    public func withBytes<Result>(
        at column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_blob(pointer, column)
        return try body(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
    }
}
