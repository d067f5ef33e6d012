import CSQLite

/// Statements for the owner of some tables: they write these, and read these and a few others.
///
/// SQLite checks each name while it prepares a statement, so no SQL can access another table. Transactions,
/// pragmas, triggers, views and attached files are rejected. A common table expression is rejected too if
/// none of its columns is read, for example if its rows are only counted.
public final class TableStatements {
    private let connection: Connection
    private let access: TableAccess
    private let cache = StatementCache()

    /// - Parameters:
    ///   - connection: The connection to the tables.
    ///   - owned: The tables that may be created, read, written and dropped, with those that SQLite creates for a
    ///     virtual table of that name. They needn't exist.
    ///   - readable: Other tables that may be read.
    public init(_ connection: Connection, owned: [String], readable: [String] = []) {
        self.connection = connection
        access = TableAccess(owned: owned, readable: readable)
        connection.authorizer.addOwner(of: access.owned)
    }

    deinit {
        connection.authorizer.removeOwner(of: access.owned)
    }

    /// Runs one or more statements and ignores their rows.
    ///
    /// - Throws: `SQLiteError`: `isRefused` if a statement names another table, or a rejected operation.
    public func execute(_ sql: String) throws {
        var text = sql
        try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                var rest = characters[...]
                while !rest.isEmpty {
                    // One at a time, because each has its own permissions.
                    try limited(sql) { try connection.executeFirst(&rest, of: sql) }
                }
            }
        }
    }

    /// Returns true if the owner of one table may write another: the same table, or one with the name of a table that
    /// SQLite creates for a virtual table.
    public static func owner(of table: String, mayWrite other: String) -> Bool {
        TableAccess(owned: [table], readable: []).isOwned(other)
    }

    /// Passes `body` a prepared statement, as `Connection.withStatement` does, from a cache of the owner.
    ///
    /// - Parameter isKept: Whether the statement is cached. Pass false if there are very many different texts.
    /// - Throws: The errors of `execute`, and the error of `body`.
    public func withStatement<Result>(
        _ sql: String, isKept: Bool = true, _ body: (borrowing Statement) throws -> Result
    ) throws -> Result {
        func prepared() throws -> Statement {
            try limited(sql) { try connection.prepare(sql) }
        }
        guard isKept else { return try body(prepared()) }
        let entry = try cache.take(sql, make: prepared)
        defer { cache.putBack(entry) }
        return try body(entry.statement)
    }

    /// Runs `body`. Statements that SQLite itself prepares meanwhile, for virtual tables, have the owner's
    /// permissions too. `body` must not run code of others.
    ///
    /// A full-text table of another owner may write its cached words meanwhile: SQLite lets it do that before each
    /// statement that may be undone separately.
    public func limited<Result>(_ body: () throws -> Result) throws -> Result {
        try limited(nil) {
            connection.authorizer.isRunning = true
            return try body()
        }
    }

    private func limited<Result: ~Copyable>(_ sql: String?, _ body: () throws -> Result) throws -> Result {
        try connection.authorizer.limited(to: access, on: connection.handle, sql, body)
    }
}

/// Permissions of statements for tables.
struct TableAccess {
    /// Suffixes of the tables that SQLite creates for a virtual table (FTS5, R-tree).
    private static let virtualTableSuffixes = [
        "_config", "_content", "_data", "_docsize", "_idx", "_node", "_parent", "_rowid",
    ]
    /// SQLite's own tables, which DDL writes. SQLite itself rejects statements that write the schema directly; its
    /// statistics only affect speed.
    private static let schemaTables: Set<String> = [
        "sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4",
    ]

    /// Table-valued functions, which read their arguments.
    private static let functions: Set<String> = ["json_each", "json_tree"]

    let owned: Set<String>
    private let readable: Set<String>

    init(owned: [String], readable: [String]) {
        self.owned = Set(owned.map { $0.lowercased() })
        self.readable = Set(readable.map { $0.lowercased() }).union(Self.functions)
    }

    /// Returns the result for SQLite's authorizer callback. The actions are listed in
    /// https://www.sqlite.org/c3ref/c_alter_table.html.
    ///
    /// - Parameter dropsTable: Whether the statement drops a table of the owner. SQLite then deletes the table's
    ///   number in `sqlite_sequence`, which has the numbers of all owners.
    func allows(_ action: Int32, _ first: String, _ second: String, dropsTable: Bool) -> Bool {
        switch action {
        case SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_REINDEX: true
        case SQLITE_FUNCTION: second != "load_extension" && second != "fts3_tokenizer"
        case SQLITE_READ: isOwned(first) || Self.isSchema(first) || readable.contains(first.lowercased())
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            first.lowercased() == "sqlite_sequence" ? dropsTable : isOwned(first) || Self.isSchema(first)
        // An AUTOINCREMENT creates `sqlite_sequence`; SQLite reserves the name.
        case SQLITE_CREATE_TABLE: isOwned(first) || Self.isSchema(first)
        case SQLITE_DROP_TABLE, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE, SQLITE_ANALYZE: isOwned(first)
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX, SQLITE_ALTER_TABLE: isOwned(second)
        // FTS5 and R-tree use these pragmas themselves.
        case SQLITE_PRAGMA: ["data_version", "page_size"].contains(first.lowercased()) && second.isEmpty
        default: false
        }
    }

    func isOwned(_ name: String) -> Bool {
        let name = name.lowercased()
        if owned.contains(name) { return true }
        return Self.virtualTableSuffixes.contains { suffix in
            name.hasSuffix(suffix) && owned.contains(String(name.dropLast(suffix.count)))
        }
    }

    /// Internal tables of a full-text table that are used when its cached words are written, with the columns
    /// that are read then. The column with the words, `block`, isn't included: a full-text table of another
    /// owner with `content=` could read them.
    private static let flushedColumns: [String: Set<String>] = [
        "_config": ["k", "v"], "_data": ["id"], "_idx": ["segid", "term", "pgno"],
    ]

    /// Returns true if the operation writes the cached words of a full-text table, and `isOwned` contains the
    /// table.
    static func allowsFlush(
        _ action: Int32, _ name: String, _ column: String, isOwned: (String) -> Bool
    ) -> Bool {
        let actions = [SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE]
        guard actions.contains(action) else { return false }
        let name = name.lowercased()
        return flushedColumns.contains { suffix, columns in
            name.hasSuffix(suffix) && isOwned(String(name.dropLast(suffix.count)))
                && (action != SQLITE_READ || columns.contains(column.lowercased()))
        }
    }

    private static func isSchema(_ name: String) -> Bool { schemaTables.contains(name.lowercased()) }
}

extension Connection {
    /// Runs the first statement, ignores its rows, and removes its text.
    fileprivate func executeFirst(_ rest: inout Slice<UnsafeBufferPointer<CChar>>, of sql: String) throws {
        let text = UnsafeBufferPointer(rebasing: rest)
        guard let count = Int32(exactly: text.count) else {
            throw SQLiteError(extendedCode: SQLITE_TOOBIG, message: "the SQL is longer than 2 GB")
        }
        var (statement, tail) = (OpaquePointer?.none, UnsafePointer<CChar>?.none)
        try check(sqlite3_prepare_v3(handle, text.baseAddress, count, 0, &statement, &tail), sql: sql)
        let used = text.baseAddress.flatMap { start in tail.map { $0 - start } } ?? text.count
        rest = rest.dropFirst(used == 0 ? text.count : used)
        // A comment isn't a statement.
        guard let statement else { return }
        authorizer.isRunning = true
        var result = sqlite3_step(statement)
        while result == SQLITE_ROW { result = sqlite3_step(statement) }
        try check(sqlite3_finalize(statement), sql: sql)
    }
}
