import CSQLite

/// A prepared statement: bound by 1-based parameter, read by 0-based column, finalised when it is released.
///
/// It belongs to one connection and must be used, like it, by one thread at a time.
public struct Statement: ~Copyable {
    @usableFromInline let pointer: OpaquePointer

    init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        sqlite3_finalize(pointer)
    }

    /// The SQL text that was prepared.
    public var sql: String {
        sqlite3_sql(pointer).map { String(cString: $0) } ?? ""
    }

    /// True if it writes nothing.
    public var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    /// Number of columns of a row. 0 for a statement that returns none.
    public var columnCount: Int32 { sqlite3_column_count(pointer) }

    /// Number of the last parameter, which is the number of parameters unless some numbers aren't used.
    public var parameterCount: Int { Int(sqlite3_bind_parameter_count(pointer)) }

    /// Returns the name of the column, as given by the SQL's `AS`.
    public func columnName(at column: Int32) -> String {
        sqlite3_column_name(pointer, column).map { String(cString: $0) } ?? ""
    }

    /// Runs to the next row. Returns false if there are no more.
    ///
    /// - Throws: `SQLiteError`; the statement is then reset. The transaction may have been rolled back: see
    ///   `Connection.isInTransaction`.
    @inlinable
    public func step() throws -> Bool {
        let result = sqlite3_step(pointer)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw failed(result)
    }

    /// Runs to the end, ignoring any rows, and resets. The bindings stay.
    ///
    /// - Throws: The errors of `step()`.
    @inlinable
    public func run() throws {
        var result = sqlite3_step(pointer)
        while result == SQLITE_ROW { result = sqlite3_step(pointer) }
        guard result == SQLITE_DONE else { throw failed(result) }
        sqlite3_reset(pointer)
    }

    /// Returns to before the first row and releases the read or write lock. The bindings stay.
    @inlinable
    public func reset() {
        // sqlite3_reset returns the code of the last step, which has thrown it already.
        sqlite3_reset(pointer)
    }

    /// Binds NULL to every parameter.
    @inlinable
    public func clearBindings() {
        sqlite3_clear_bindings(pointer)
    }

    /// Returns the error of a call on this statement. Resets it, so that it holds no lock afterwards.
    @usableFromInline
    func failed(_ result: Int32) -> SQLiteError {
        let error = SQLiteError(result, database: sqlite3_db_handle(pointer), sql: sql)
        sqlite3_reset(pointer)
        return error
    }

    @inlinable
    func check(_ result: Int32) throws {
        guard result == SQLITE_OK else { throw failed(result) }
    }
}

@available(*, unavailable) extension Statement: Sendable {}
