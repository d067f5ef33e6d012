import CSQLite

/// Binding has two forms. `bind` keeps the value until it is bound again or cleared, for which SQLite copies text and
/// blobs. `binding(_:at:_:)` lends SQLite the caller's bytes while its closure runs, without a copy.
extension Statement {
    /// Binds a whole number to the parameter `index`, the first of which is 1.
    ///
    /// - Throws: `SQLiteError` if the parameter doesn't exist or the statement is between two rows.
    @inlinable
    public func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(pointer, index, value))
    }

    /// Binds a whole number. Throws the errors of the 64-bit form.
    @inlinable
    public func bind(_ value: Int, at index: Int32) throws {
        try bind(Int64(value), at: index)
    }

    /// Binds a floating-point number. NaN becomes NULL, because SQLite has no NaN. Throws the errors of the form for
    /// whole numbers.
    @inlinable
    public func bind(_ value: Double, at index: Int32) throws {
        try check(sqlite3_bind_double(pointer, index, value))
    }

    /// Binds NULL. Throws the errors of the form for whole numbers.
    @inlinable
    public func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(pointer, index))
    }

    /// Binds a copy of `text`. Throws the errors of the form for whole numbers, and one if it is longer than SQLite's
    /// limit.
    public func bind(_ text: String, at index: Int32) throws {
        var text = text
        try text.withUTF8 { try bindText($0, at: index, copies: true) }
    }

    /// Binds a copy of `bytes` as a blob. Throws the errors of the form for texts.
    public func bind(_ bytes: [UInt8], at index: Int32) throws {
        try bytes.withUnsafeBytes { try bindBlob($0, at: index, copies: true) }
    }

    /// Binds a copy of `bytes` as a blob. Throws the errors of the form for texts.
    public func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
        try bindBlob(bytes, at: index, copies: true)
    }

    /// Binds `text` without a copy while `body` runs, and returns the result of `body`. Step and read the rows
    /// inside.
    ///
    /// When `body` ends, the statement is reset and the parameter is NULL, so that SQLite never reads the text later.
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

    /// Binds `bytes` as a blob without a copy while `body` runs. See the form for texts.
    @inlinable
    public func binding<Result>(_ bytes: [UInt8], at index: Int32, _ body: () throws -> Result) throws
        -> Result
    {
        try bytes.withUnsafeBytes { try binding($0, at: index, body) }
    }

    /// Binds `bytes` as a blob without a copy while `body` runs. See the form for texts.
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
        // An empty buffer may have no address, and SQLite interprets a null pointer as NULL.
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
        // A statement between two rows can't be bound. Most were run to the end and need no reset.
        guard sqlite3_bind_null(pointer, index) != SQLITE_OK else { return }
        sqlite3_reset(pointer)
        sqlite3_bind_null(pointer, index)
    }
}

/// SQLITE_TRANSIENT: a C macro with a cast, which Swift can't import.
private var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
