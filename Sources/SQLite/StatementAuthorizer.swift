import CSQLite

/// Limits the statements of a connection to tables of their owner, with SQLite's authorizer callback.
///
/// The connection owns it, and closes the handle before it is released.
final class StatementAuthorizer {
    /// Permissions of the statement that is being prepared. Nil permits everything.
    private var access: TableAccess?
    /// Description of the first operation that was rejected in the statement.
    private var refusal: String?
    /// True if the statement that is being prepared drops a table of its owner.
    private var dropsTable = false
    /// True while the owner's statement runs: a statement that is prepared now belongs to a virtual table.
    var isRunning = false
    /// Number of owners of each table, by its name in lower case.
    private var ownersCounts: [String: Int] = [:]
    private var isInstalled = false

    /// Adds an owner of tables.
    func addOwner(of tables: some Sequence<String>) {
        for table in tables { ownersCounts[table, default: 0] += 1 }
    }

    /// Removes an owner of tables.
    func removeOwner(of tables: some Sequence<String>) {
        for table in tables {
            let count = (ownersCounts[table] ?? 0) - 1
            ownersCounts[table] = count > 0 ? count : nil
        }
    }

    /// Runs `body`, in which statements with the permissions of `access` are prepared.
    func limited<Result: ~Copyable>(
        to access: TableAccess, on handle: OpaquePointer, _ sql: String?, _ body: () throws -> Result
    ) throws -> Result {
        install(on: handle)
        let before = (self.access, refusal, dropsTable, isRunning)
        (self.access, refusal, dropsTable, isRunning) = (access, nil, false, false)
        defer { (self.access, refusal, dropsTable, isRunning) = before }
        do {
            return try body()
        } catch let error as SQLiteError {
            // SQLite's own code is unspecific for some rejections.
            guard let refusal else { throw error }
            throw SQLiteError(
                extendedCode: SQLITE_AUTH, message: "this owner of tables may not \(refusal)",
                sql: sql ?? error.sql)
        }
    }

    /// Installs the callback once for a connection, because each installation makes SQLite prepare all
    /// statements again.
    private func install(on handle: OpaquePointer) {
        guard !isInstalled else { return }
        isInstalled = true
        sqlite3_set_authorizer(
            handle,
            { context, action, first, second, _, _ in
                guard let context else { return SQLITE_DENY }
                let authorizer = Unmanaged<StatementAuthorizer>.fromOpaque(context).takeUnretainedValue()
                return authorizer.answer(
                    action, first.map { String(cString: $0) } ?? "", second.map { String(cString: $0) } ?? "")
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func answer(_ action: Int32, _ first: String, _ second: String) -> Int32 {
        guard let access else { return SQLITE_OK }
        if access.allows(action, first, second, dropsTable: dropsTable) {
            if action == SQLITE_DROP_TABLE { dropsTable = true }
            return SQLITE_OK
        }
        if isRunning, TableAccess.allowsFlush(action, first, second, isOwned: { ownersCounts[$0] != nil }) {
            return SQLITE_OK
        }
        if refusal == nil { refusal = Self.words(action, first, second) }
        return SQLITE_DENY
    }

    private static func words(_ action: Int32, _ first: String, _ second: String) -> String {
        switch action {
        case SQLITE_READ: "read the table \(first)"
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: "write the table \(first)"
        case SQLITE_CREATE_TABLE, SQLITE_CREATE_VTABLE: "create the table \(first)"
        case SQLITE_DROP_TABLE, SQLITE_DROP_VTABLE: "drop the table \(first)"
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX: "change the indexes of the table \(second)"
        case SQLITE_ALTER_TABLE: "alter the table \(second)"
        case SQLITE_PRAGMA: "use the pragma \(first)"
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: "begin or end transactions"
        case SQLITE_FUNCTION: "call \(second)"
        default: "run such a statement (action \(action), \(first) \(second))"
        }
    }
}
