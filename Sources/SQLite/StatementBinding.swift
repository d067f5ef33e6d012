import CSQLite

/// Binding has two forms. `bind` keeps the value until it is bound again or cleared, for which SQLite copies text and
/// blobs. `binding(_:at:_:)` lends SQLite the caller's own bytes while its closure runs: nothing is copied.
extension Statement {
    /// Binds a whole number to the parameter `index`, the first of which is 1.
    ///
    /// - Throws: `SQLiteError` when there is no such parameter or the statement is between two rows.
    @inlinable
    public func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(pointer, index, value))
    }

    /// Binds a whole number. Throws as the 64 bit one's `bind`.
    @inlinable
    public func bind(_ value: Int, at index: Int32) throws {
        try bind(Int64(value), at: index)
    }

    /// Binds a floating point number. NaN becomes NULL, as SQLite has no NaN. Throws as the whole number's `bind`.
    @inlinable
    public func bind(_ value: Double, at index: Int32) throws {
        try check(sqlite3_bind_double(pointer, index, value))
    }

    /// Binds NULL. Throws as the whole number's `bind`.
    @inlinable
    public func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(pointer, index))
    }

    /// Binds a copy of `text`. Throws as the whole number's `bind`, and when it is longer than SQLite's limit.
    public func bind(_ text: String, at index: Int32) throws {
        var text = text
        try text.withUTF8 { try bindText($0, at: index, copies: true) }
    }

    /// Binds a copy of `bytes` as a blob. Throws as the text's `bind`.
    public func bind(_ bytes: [UInt8], at index: Int32) throws {
        try bytes.withUnsafeBytes { try bindBlob($0, at: index, copies: true) }
    }

    /// Binds a copy of `bytes` as a blob. Throws as the text's `bind`.
    public func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
        try bindBlob(bytes, at: index, copies: true)
    }

    /// Binds `text` without a copy while `body` runs, and returns what it returns. Step and read the rows inside.
    ///
    /// When `body` ends the statement is reset and the parameter is NULL, so that SQLite never reads the text later.
    @inlinable
    public func binding<Result>(_ text: String, at index: Int32, _ body: () throws -> Result) throws -> Result
    {
        var text = text
        return try text.withUTF8 { bytes in
            try bindText(bytes, at: index, copies: false)
            defer { unbind(at: index) }
            return try body()
        }
    }

    /// Binds `bytes` as a blob without a copy while `body` runs: as the text's `binding`.
    @inlinable
    public func binding<Result>(_ bytes: [UInt8], at index: Int32, _ body: () throws -> Result) throws
        -> Result
    {
        try bytes.withUnsafeBytes { try binding($0, at: index, body) }
    }

    /// Binds `bytes` as a blob without a copy while `body` runs: as the text's `binding`.
    @inlinable
    public func binding<Result>(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, _ body: () throws -> Result
    ) throws -> Result {
        try bindBlob(bytes, at: index, copies: false)
        defer { unbind(at: index) }
        return try body()
    }

    @usableFromInline
    func bindText(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int32, copies: Bool) throws {
        // An empty buffer may have no address, and SQLite takes a null pointer for NULL.
        let result = bytes.withMemoryRebound(to: CChar.self) { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return sqlite3_bind_text(pointer, index, "", 0, transient)
            }
            return sqlite3_bind_text64(
                pointer, index, start, UInt64(bytes.count), copies ? transient : nil, UInt8(SQLITE_UTF8))
        }
        try check(result)
    }

    @usableFromInline
    func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32, copies: Bool) throws {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_zeroblob(pointer, index, 0))
        }
        try check(
            sqlite3_bind_blob64(pointer, index, start, UInt64(bytes.count), copies ? transient : nil))
    }

    @usableFromInline
    func unbind(at index: Int32) {
        // A statement between two rows refuses to be bound. Most were run to the end and need no reset.
        guard sqlite3_bind_null(pointer, index) != SQLITE_OK else { return }
        sqlite3_reset(pointer)
        sqlite3_bind_null(pointer, index)
    }
}

/// SQLITE_TRANSIENT: a C macro that casts, which Swift can't import.
private var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
