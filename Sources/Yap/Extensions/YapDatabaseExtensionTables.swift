import SQLite

/// The SQLite tables that an extension owns, in one transaction: those in `tableNames`, and for virtual tables those
/// that SQLite creates beneath them. They and `database2`, the table of rows, can be read; no other can.
///
/// ```swift
/// try tables.run("INSERT OR REPLACE INTO words VALUES (?1, ?2)", [.text("milk"), .integer(3)])
/// let counts = try tables.rows("SELECT count FROM words WHERE word = ?1", [.text("milk")])
/// ```
///
/// It can't be used outside its transaction. Every call throws `YapDatabaseError`: `sqlite` with SQLite's message
/// (also for a statement that names another table), `transactionEnded`, or an error of the file.
public struct YapDatabaseExtensionTables {
    private let statements: TableStatements
    private let generation: UInt64
    /// Retained until the transaction ends, which releases its extensions.
    private let transaction: YapDatabaseReadTransaction

    init(_ entry: ExtensionEntry, _ transaction: YapDatabaseReadTransaction) {
        statements = entry.tables
        generation = entry.registered.generation
        self.transaction = transaction
    }

    /// Runs statements without values, such as `CREATE TABLE`.
    ///
    /// - Parameter sql: One statement, or several separated by `;`.
    /// - Throws: Also `readOnlyTransaction` in a read transaction.
    public func execute(_ sql: String) throws {
        _ = try writingTransaction()
        try noting { try statements.execute(sql) }
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Parameters:
    ///   - sql: One statement. The prepared statement is cached, so pass values in `values`.
    ///   - values: The values of `?1`, `?2` and so on.
    /// - Returns: Number of rows that were inserted, updated or deleted.
    /// - Throws: Also `readOnlyTransaction` in a read transaction.
    @discardableResult
    public func run(_ sql: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int {
        _ = try writingTransaction()
        try withStatement(sql, values) { statement in try statements.limited { try statement.run() } }
        return changedRowsCount
    }

    /// Runs a query and returns its rows, each with the values of its columns.
    ///
    /// - Parameters:
    ///   - sql: One statement, as for `run`.
    ///   - values: The values of `?1`, `?2` and so on.
    public func rows(_ sql: String, _ values: [YapDatabaseColumnValue] = []) throws
        -> [[YapDatabaseColumnValue]]
    {
        try withStatement(sql, values) { statement in
            // Virtual tables prepare statements of their own while they are read.
            try statements.limited {
                var rows: [[YapDatabaseColumnValue]] = []
                while try statement.step() {
                    rows.append(statement.columnValues)
                }
                return rows
            }
        }
    }

    /// Runs `body`. If it throws, its writes to the tables are undone, and the transaction continues.
    ///
    /// `body` must not change rows of the database: if it does and throws, the whole transaction fails. The extension
    /// restores its own state in memory.
    /// - Throws: The error of `body`; also `readOnlyTransaction` in a read transaction.
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        let writing = try writingTransaction()
        let recordedCount = writing.recordedCount
        do {
            return try noting { try transaction.store.sqlite.savepoint("extension", body) }
        } catch {
            // Caches and other extensions have seen rows that are undone.
            if writing.recordedCount != recordedCount, writing.failure == nil { writing.failure = error }
            throw error
        }
    }

    /// Records a read through the extension, for observations of the running query.
    ///
    /// ```swift
    /// tables.noteRead { changes in (changes as? WordChanges)?.words.contains(word) ?? true }
    /// ```
    ///
    /// - Parameter isChanged: Returns whether a result of `changesForConnections()` changes what was read. Up to 100
    ///   reads are recorded for one extension; beyond that each of its changes counts. Only used if the extension has
    ///   `notesReads`.
    public func noteRead(_ isChanged: @escaping @Sendable (_ changes: any Sendable) -> Bool) {
        transaction.dependencies?.add(generation, part: isChanged)
    }

    /// Number of rows that the last statement inserted, updated or deleted.
    var changedRowsCount: Int { transaction.store.sqlite.changesCount }

    /// Passes `body` a prepared statement with bound values.
    ///
    /// - Parameters:
    ///   - isKept: Whether the statement is cached. Pass false if there are very many different texts.
    ///   - countsValues: Whether more or fewer values than parameters are `invalidExtension`. Without a value, a
    ///     parameter is NULL.
    func withStatement<Result>(
        _ sql: String, _ values: [YapDatabaseColumnValue] = [], isKept: Bool = true,
        countsValues: Bool = false,
        _ body: (borrowing Statement) throws -> Result
    ) throws -> Result {
        try transaction.check()
        return try noting {
            try statements.withStatement(sql, isKept: isKept) { statement in
                if !statement.isReadOnly { _ = try writingTransaction() }
                let missing = countsValues ? statement.parameterCount - values.count : 0
                guard missing == 0 else {
                    throw YapDatabaseError(
                        .invalidExtension,
                        (missing > 0
                            ? "\(missing) parameters of the query have no value"
                            : "\(-missing) values of the query have no parameter")
                            + ": pass one value for each parameter, first that of ?1")
                }
                for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
                return try body(statement)
            }
        }
    }

    /// Opens a blob in one of the extension's own tables while `body` runs.
    ///
    /// - Parameters:
    ///   - table: Name of the table, not quoted.
    ///   - isWritable: Whether `body` may write. The column must not have an SQLite index then.
    func withBlob<Result>(
        _ table: String, _ column: String, rowID: Int64, isWritable: Bool,
        _ body: (borrowing Blob) throws -> Result
    ) throws -> Result {
        if isWritable { _ = try writingTransaction() } else { try transaction.check() }
        return try noting {
            try transaction.store.sqlite.withBlob(table, column, rowID: rowID, isWritable: isWritable, body)
        }
    }

    private func writingTransaction() throws -> YapDatabaseReadWriteTransaction {
        try transaction.check()
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseError(.readOnlyTransaction, "an extension's tables can't be written in a read")
        }
        return writing
    }

    private func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw transaction.store.noted(error)
        }
    }
}

@available(*, unavailable) extension YapDatabaseExtensionTables: Sendable {}
