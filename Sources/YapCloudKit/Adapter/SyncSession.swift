internal import CloudKit
internal import System
internal import Yap

/// The device's database that the sync was started with, and everything that must be released when it ends.
///
/// The state of a start lasts until the next start, or until the database ends. Starts have numbers, because the end of
/// an earlier start's database may come after a later start.
final class SyncSession: Sendable {
    private struct State {
        /// Number of the newest start, which may not be in effect yet.
        var newestStart = 0
        /// Number of the start that is in effect; 0 before the first one.
        var start = 0
        /// Number of the newest start with a database that has ended.
        var endedStart = 0
        /// Weak, because the database holds the extension, which holds the sync.
        weak var database: YapDatabase?
        var registeredName = ""
        /// Held while work is running: it keeps the database open, and opening a connection takes time.
        var connection: YapDatabaseConnection?
        /// The user of each cloud database, as far as it was read from the device's database.
        var userRecordNames: [DatabaseKey: String] = [:]
        /// Operations that run in the cloud, by the number of the attempt.
        var operations: [Int: CKOperation] = [:]

        var isEnded: Bool { endedStart > 0 && endedStart >= start }
    }

    private let state = Lock(State())

    // MARK: Start and end

    /// Returns the number of a new start, which takes effect with `begin`.
    func nextStart() -> Int {
        state.withLock { state in
            state.newestStart += 1
            return state.newestStart
        }
    }

    /// Uses a database from now on.
    /// - Returns: False if a newer start is in effect; then nothing changes.
    func begin(_ start: Int, _ database: YapDatabase, _ registeredName: String) -> Bool {
        // The connection to the previous database, and the operations for it, are released after the lock.
        let released = state.withLock { state -> (YapDatabaseConnection?, [Int: CKOperation])? in
            guard start > state.start else { return nil }
            defer { (state.connection, state.operations) = (nil, [:]) }
            state.start = start
            state.database = database
            state.registeredName = registeredName
            state.userRecordNames = [:]
            return (state.connection, state.operations)
        }
        return released != nil
    }

    /// Ends the use of a start's database, and releases the connection and the operations.
    /// - Returns: False if the sync was started with another database since; then that one stays in use.
    func end(start: Int) -> Bool {
        // Released after the lock: the release may end the database, which comes back here.
        let released = state.withLock { state -> (YapDatabaseConnection?, [Int: CKOperation])? in
            state.endedStart = max(state.endedStart, start)
            guard start >= state.start else { return nil }
            defer { (state.connection, state.operations) = (nil, [:]) }
            return (state.connection, state.operations)
        }
        return released != nil
    }

    /// Number of the start that is in effect; 0 before the first one.
    var start: Int { state.withLock { $0.start } }

    /// Whether the database has ended.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Number of the newest start with a database that has ended; nil if a newer start is in effect.
    var endedStart: Int? { state.withLock { $0.isEnded ? $0.endedStart : nil } }

    // MARK: The database

    /// The database; nil before the first start, and after the database was released.
    var database: YapDatabase? { state.withLock { $0.database } }

    /// Path of the database, and the extension's name in it; nil after the database was released.
    var location: (path: String, registeredName: String)? {
        let (database, name) = state.withLock { ($0.database, $0.registeredName) }
        return database.map { ($0.path, name) }
    }

    /// The database for one piece of work; nil before the first start, and after the database has ended.
    func open() -> OpenDatabase? {
        let (connection, database, name, start) = state.withLock { state in
            state.isEnded
                ? (nil, nil, "", 0)
                : (state.connection, state.database, state.registeredName, state.start)
        }
        guard let connection = connection ?? database.map({ keep($0.newConnection(), start: start) }) else {
            return nil
        }
        return OpenDatabase(connection: connection, name: name, start: start)
    }

    /// The database for one piece of work of a start; nil if the sync was started with another database since, or after
    /// the database has ended.
    func open(start: Int) -> OpenDatabase? {
        guard let open = open(), open.start == start else { return nil }
        return open
    }

    /// Keeps a new connection, unless another thread was first, or the start has ended meanwhile.
    /// - Returns: The connection to use.
    private func keep(_ new: YapDatabaseConnection, start: Int) -> YapDatabaseConnection {
        state.withLock { state in
            guard state.start == start, !state.isEnded else { return new }
            let connection = state.connection ?? new
            state.connection = connection
            return connection
        }
    }

    /// Releases the connection, which may hold the last reference to the database.
    func releaseConnection() {
        // Released after the lock: the end of the database comes back here.
        _ = state.withLock { state in
            defer { state.connection = nil }
            return state.connection
        }
    }

    /// Reads on a thread of the database.
    /// - Throws: `YapDatabaseCloudKitError.notRegistered` before the first start.
    func query<Value: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseCloudKitTransaction) throws -> Value
    ) async throws -> Value {
        let (connection, name) = try newConnection()
        return try await connection.read { try body($0.ext(name, as: YapDatabaseCloudKit.self)) }
    }

    /// Writes on a thread of the database.
    /// - Throws: `YapDatabaseCloudKitError.notRegistered` before the first start.
    func update<Value: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseCloudKitTransaction) throws -> Value
    ) async throws -> Value {
        let (connection, name) = try newConnection()
        return try await connection.readWrite { try body($0.ext(name, as: YapDatabaseCloudKit.self)) }
    }

    private func newConnection() throws -> (YapDatabaseConnection, name: String) {
        let (database, name) = state.withLock { ($0.database, $0.registeredName) }
        guard let database else { throw YapDatabaseCloudKitError.notRegistered }
        return (database.newConnection(), name)
    }

    // MARK: Users

    /// The user of a cloud database, if it was read since this start, and no other start followed.
    func userRecordName(_ key: DatabaseKey, start: Int) -> String? {
        state.withLock { $0.start == start ? $0.userRecordNames[key] : nil }
    }

    /// Keeps the user of a cloud database, as read from the database of a start. After another start the user may be
    /// another one.
    func setUserRecordName(_ name: String?, _ key: DatabaseKey, start: Int) {
        state.withLock { if $0.start == start { $0.userRecordNames[key] = name } }
    }

    // MARK: Operations

    /// Keeps an operation of a start's work.
    /// - Returns: False if the sync was started with another database since; then nothing is kept.
    func add(_ operation: CKOperation, attempt: Int, start: Int) -> Bool {
        state.withLock { state in
            guard state.start == start else { return false }
            state.operations[attempt] = operation
            return true
        }
    }

    /// Removes the operation of an attempt. The caller releases it: its blocks may hold the last reference to a
    /// database.
    @discardableResult
    func removeOperation(attempt: Int) -> CKOperation? {
        state.withLock { $0.operations.removeValue(forKey: attempt) }
    }

    /// Whether the attempt's operation is still wanted: neither cancelled nor completed, and the database hasn't ended.
    func hasOperation(attempt: Int) -> Bool { state.withLock { $0.operations[attempt] != nil } }
}

/// The device's database during one piece of work, which it keeps open.
struct OpenDatabase {
    let connection: YapDatabaseConnection
    /// The extension's name.
    let name: String
    /// Number of the start.
    let start: Int

    func read<Value>(_ body: (YapDatabaseCloudKitTransaction) throws -> Value) throws -> Value {
        try connection.blocking.read { try body($0.ext(name, as: YapDatabaseCloudKit.self)) }
    }

    /// Writes as the engine: the commit doesn't cause a recount.
    func write<Value>(
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Value
    ) throws -> Value {
        try connection.blocking.readWrite { transaction in
            let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
            ext.isByEngine = true
            return try body(transaction, ext)
        }
    }
}
