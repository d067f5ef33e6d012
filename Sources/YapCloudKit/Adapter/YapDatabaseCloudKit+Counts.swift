public import CloudKit
internal import Yap

/// What waits, asked from anywhere. Each call reads the newest commit on a thread of the database's, so that nobody's
/// thread is held up; in a transaction ask the extension's transaction instead.
extension YapDatabaseCloudKit {
    /// How many change-sets are being sent, and how many wait beside them: both of one moment.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfChangeSets: (inFlight: Int, queued: Int) {
        get async throws { try await runner.session.query { try $0.numberOfChangeSets() } }
    }

    /// How many change-sets are being sent: one a database at most.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfInFlightChangeSets: Int { get async throws { try await numberOfChangeSets.inFlight } }

    /// How many change-sets wait for their turn.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfQueuedChangeSets: Int { get async throws { try await numberOfChangeSets.queued } }

    /// How many change-sets are not in the cloud yet.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var numberOfPendingChangeSets: Int {
        get async throws { try await runner.session.query { try $0.numberOfPendingChangeSets() } }
    }

    /// The change-set that is being uploaded, or is next; nil when none waits.
    /// - Throws: `YapDatabaseError`, among them `closed`; what the record handler throws.
    public func currentChangeSet(databaseIdentifier: String? = nil) async throws -> YDBCKChangeSet? {
        try await runner.session.query { try $0.currentChangeSet(databaseIdentifier: databaseIdentifier) }
    }

    /// A page of what waits to be uploaded, the oldest commit first.
    ///
    /// - Parameters:
    ///   - limit: The most change-sets.
    ///   - previous: The last of the page before; nil begins. It may be gone meanwhile.
    /// - Throws: `YapDatabaseError`, among them `closed`; what the record handler throws.
    public func pendingChangeSets(
        limit: Int, after previous: YDBCKChangeSet? = nil
    ) async throws -> [YDBCKChangeSet] {
        try await runner.session.query { try $0.pendingChangeSets(limit: limit, after: previous) }
    }

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
        try await runner.session.update {
            try $0.useAccount(of: userRecordID, databaseIdentifier: databaseIdentifier)
        }
    }
}
