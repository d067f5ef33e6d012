import CSQLite

/// One blob in a table, open for incremental reads and writes in place. SQLite writes only the affected pages. The
/// size of the blob doesn't change.
///
/// It belongs to one connection and must be used, like it, by one thread at a time.
public struct Blob: ~Copyable {
    private let pointer: OpaquePointer
    private let database: OpaquePointer

    fileprivate init(pointer: OpaquePointer, database: OpaquePointer) {
        (self.pointer, self.database) = (pointer, database)
    }

    deinit {
        // The result is ignored: it is the error of a previous call, which has thrown it already.
        sqlite3_blob_close(pointer)
    }

    /// Size in bytes.
    public var count: Int { Int(sqlite3_blob_bytes(pointer)) }

    /// Reads bytes from `offset` on, and fills `bytes` with them.
    ///
    /// - Throws: `SQLiteError`, also if the blob ends before.
    public func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        let (count, offset) = try checked(bytes.count, offset)
        try check(sqlite3_blob_read(pointer, start, count, offset))
    }

    /// Returns a number of bytes from `offset` on. Throws the errors of the other form.
    public func read(count: Int, at offset: Int) throws -> [UInt8] {
        // Checked before the memory is allocated.
        _ = try checked(count, offset)
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { try read($0, at: offset) }
        return bytes
    }

    /// Writes bytes from `offset` on.
    ///
    /// - Throws: `SQLiteError`, also if the blob ends before, or was opened for reading.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        let (count, offset) = try checked(bytes.count, offset)
        try check(sqlite3_blob_write(pointer, start, count, offset))
    }

    /// Returns the numbers in SQLite's type.
    private func checked(_ count: Int, _ offset: Int) throws -> (Int32, Int32) {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else {
            throw SQLiteError(
                extendedCode: SQLITE_RANGE,
                message: "the blob has \(self.count) bytes: \(count) from \(offset) on are outside of it")
        }
        return (Int32(count), Int32(offset))
    }

    private func check(_ result: Int32) throws {
        guard result == SQLITE_OK else { throw SQLiteError(result, database: database) }
    }
}

extension Connection {
    /// Opens a blob while `body` runs, and returns the result of `body`.
    ///
    /// - Parameters:
    ///   - table: Name of the table, not quoted.
    ///   - column: Name of the column.
    ///   - rowID: The row.
    ///   - isWritable: Whether `body` may write. A write outside a transaction is a transaction of its own.
    ///   - body: Reads and writes the blob. It must not change the row in any other way.
    /// - Throws: `SQLiteError`, also if the row doesn't exist, or its column has neither a blob nor a text. The error
    ///   of `body`.
    public func withBlob<Result>(
        _ table: String, _ column: String, rowID: Int64, isWritable: Bool = false,
        _ body: (borrowing Blob) throws -> Result
    ) throws -> Result {
        var pointer: OpaquePointer?
        try check(sqlite3_blob_open(handle, "main", table, column, rowID, isWritable ? 1 : 0, &pointer))
        guard let pointer else {
            throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "the blob can't be opened")
        }
        return try body(Blob(pointer: pointer, database: handle))
    }
}

@available(*, unavailable) extension Blob: Sendable {}
