public import CloudKit
internal import Seams
internal import Yap

/// How many change-sets wait, of the account that is in use. All of it is of one moment.
public struct ChangeSetCounts: Hashable, Sendable {
    /// An operation has something of them: one a database at most.
    public let inFlight: Int
    /// They wait for their turn.
    public let queued: Int
    /// Both together.
    public var pending: Int { inFlight + queued }

    /// Makes a pair.
    public init(inFlight: Int, queued: Int) {
        self.inFlight = inFlight
        self.queued = queued
    }
}

extension YapDatabaseCloudKitTransaction {
    /// How many change-sets wait, in the transaction's snapshot. It takes the same time however many they are.
    public func changeSetCounts() throws -> ChangeSetCounts {
        let account = try tables.currentAccount()
        let counts = try tables.databases().filter { $0.account == account }.map { try tables.counts($0) }
        let inFlight = counts.reduce(0) { $0 + $1.inFlightChangeSets }
        return ChangeSetCounts(
            inFlight: inFlight, queued: counts.reduce(0) { $0 + $1.changeSets } - inFlight)
    }
}

/// What waits, asked from anywhere. Each call reads the newest commit on a thread of the database's, so that nobody's
/// thread is held up; in a transaction ask the extension's transaction instead.
extension YapDatabaseCloudKit {
    /// How many change-sets wait and are in flight, of one moment.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var changeSetCounts: ChangeSetCounts {
        get async throws { try await runner.query { try $0.changeSetCounts() } }
    }

    /// How many change-sets are being sent: one a database at most.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfInFlightChangeSets: Int { get async throws { try await changeSetCounts.inFlight } }

    /// How many change-sets wait for their turn.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfQueuedChangeSets: Int { get async throws { try await changeSetCounts.queued } }

    /// How many change-sets are not in the cloud yet.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfPendingChangeSets: Int { get async throws { try await changeSetCounts.pending } }

    /// Uses the account of a user from now on; see `YapDatabaseCloudKitTransaction.useAccount(of:databaseIdentifier:)`.
    ///
    /// - Parameters:
    ///   - userRecordID: Who is signed in, as `CKContainer.userRecordID()` says.
    ///   - databaseIdentifier: Of which database's container that is.
    /// - Returns: Whether it is another user than before.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    @discardableResult
    public func useAccount(
        of userRecordID: CKRecord.ID, databaseIdentifier: String? = nil
    ) async throws -> Bool {
        try await runner.update {
            try $0.useAccount(of: userRecordID, databaseIdentifier: databaseIdentifier)
        }
    }
}

extension SyncRunner {
    /// Reads from anywhere, without holding up the caller's thread.
    func query<Value: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseCloudKitTransaction) throws -> Value
    ) async throws -> Value {
        let (connection, name) = try anyConnection()
        return try await connection.read { try body(try $0.ext(name, as: YapDatabaseCloudKit.self)) }
    }

    /// Writes from anywhere, without holding up the caller's thread.
    func update<Value: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseCloudKitTransaction) throws -> Value
    ) async throws -> Value {
        let (connection, name) = try anyConnection()
        return try await connection.readWrite { try body(try $0.ext(name, as: YapDatabaseCloudKit.self)) }
    }

    private func anyConnection() throws -> (YapDatabaseConnection, name: String) {
        let (database, name) = state.withLock { ($0.database, $0.registeredName) }
        guard let database else { throw YapDatabaseCloudKitError.notRegistered }
        return (database.newConnection(), name)
    }
}
