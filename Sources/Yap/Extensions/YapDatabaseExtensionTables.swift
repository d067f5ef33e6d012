import SQLite

/// The SQLite tables that an extension owns, in one transaction: those that `tableNames` names, and for virtual tables
/// those that SQLite makes beneath them. They and `database2`, the table of rows, can be read; no other can.
///
/// ```swift
/// try tables.run("INSERT OR REPLACE INTO words VALUES (?1, ?2)", [.text("milk"), .integer(3)])
/// let counts = try tables.rows("SELECT count FROM words WHERE word = ?1", [.text("milk")])
/// ```
///
/// It belongs to its transaction. Every call throws `YapDatabaseError`: `sqlite` with SQLite's message (also for a
/// statement that names another table), `transactionEnded`, or what the file gave.
public struct YapDatabaseExtensionTables {
    private let statements: TableStatements
    private let generation: UInt64
    /// Held until the transaction ends, which lets go of its extensions.
    private let transaction: YapDatabaseReadTransaction

    init(_ entry: ExtensionEntry, _ transaction: YapDatabaseReadTransaction) {
        statements = entry.tables
        generation = entry.registered.generation
        self.transaction = transaction
    }

    /// Runs statements without values, such as `CREATE TABLE`.
    ///
    /// - Parameter sql: One statement, or several with `;` between them.
    /// - Throws: also `readOnlyTransaction` when the transaction only reads.
    public func execute(_ sql: String) throws {
        _ = try writingTransaction()
        try noting { try statements.execute(sql) }
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Parameters:
    ///   - sql: One statement. It is prepared once and kept, so values belong into `values`.
    ///   - values: The values of `?1`, `?2` and so on.
    /// - Returns: How many rows were inserted, updated or deleted.
    /// - Throws: also `readOnlyTransaction` when the transaction only reads.
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

    /// Runs `body`. When it throws, what it wrote into the tables is undone, and the transaction goes on.
    ///
    /// `body` changes no rows of the database: when it has and throws, the whole transaction fails. What the extension
    /// keeps in memory is its own affair.
    /// - Throws: what `body` throws; also `readOnlyTransaction` when the transaction only reads.
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        let writing = try writingTransaction()
        let recordedCount = writing.recordedCount
        do {
            return try noting { try transaction.store.sqlite.savepoint("extension", body) }
        } catch {
            // Caches and other extensions know of rows that are undone.
            if writing.recordedCount != recordedCount, writing.failure == nil { writing.failure = error }
            throw error
        }
    }

    /// Notes what is read with the extension, for observations of the query that is running.
    ///
    /// ```swift
    /// tables.noteRead { changes in (changes as? WordChanges)?.words.contains(word) ?? true }
    /// ```
    ///
    /// - Parameter isChanged: Whether what `changesForConnections()` returned changes what was read. Up to 100 notes
    ///   are kept for one extension; beyond that each of its changes counts. Notes count only if the extension has
    ///   `notesReads`.
    public func noteRead(_ isChanged: @escaping @Sendable (_ changes: any Sendable) -> Bool) {
        transaction.dependencies?.add(generation, part: isChanged)
    }

    /// How many rows the last statement inserted, updated or deleted.
    var changedRowsCount: Int { transaction.store.sqlite.changesCount }

    /// Lends `body` a prepared statement with its values bound.
    ///
    /// - Parameters:
    ///   - isKept: whether the statement is kept: not one of very many texts.
    ///   - countsValues: whether it is `invalidExtension` to have more or fewer values than parameters. Without a
    ///     value, a parameter is NULL.
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
    ///   - isWritable: Whether `body` may write. The column then has no SQLite index.
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
