public import CloudKit
internal import Yap

/// Counts and contents of the queue, outside of a transaction. Each call reads the newest commit on a thread of the
/// database, so it doesn't block the caller's thread. In a transaction use the extension's transaction instead.
extension YapDatabaseCloudKit {
    /// Number of change-sets that are being sent, and of those that are pending, both at one moment.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    public var numberOfChangeSets: (inFlight: Int, queued: Int) {
        get async throws { try await runner.session.query { try $0.numberOfChangeSets() } }
    }

    /// Number of change-sets that are being sent, up to one for each database.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    public var numberOfInFlightChangeSets: Int { get async throws { try await numberOfChangeSets.inFlight } }

    /// Number of change-sets that are pending and not being sent.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    public var numberOfQueuedChangeSets: Int { get async throws { try await numberOfChangeSets.queued } }

    /// Number of change-sets that are not in the cloud yet.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    public var numberOfPendingChangeSets: Int {
        get async throws { try await runner.session.query { try $0.numberOfPendingChangeSets() } }
    }

    /// Returns the change-set that is being uploaded, or the next one, or nil if none is pending.
    /// - Throws: `YapDatabaseError`, for example `closed`; errors of the record handler.
    public func currentChangeSet(databaseIdentifier: String? = nil) async throws -> YDBCKChangeSet? {
        try await runner.session.query { try $0.currentChangeSet(databaseIdentifier: databaseIdentifier) }
    }

    /// Returns a page of the pending change-sets, the oldest commit first.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of change-sets.
    ///   - previous: The last change-set of the previous page, which may have been sent meanwhile; nil for the first
    ///     page.
    /// - Throws: `YapDatabaseError`, for example `closed`; errors of the record handler.
    public func pendingChangeSets(
        limit: Int, after previous: YDBCKChangeSet? = nil
    ) async throws -> [YDBCKChangeSet] {
        try await runner.session.query { try $0.pendingChangeSets(limit: limit, after: previous) }
    }

    /// Uses the account of a user from now on; see `YapDatabaseCloudKitTransaction.useAccount(of:databaseIdentifier:)`.
    ///
    /// - Parameters:
    ///   - userRecordID: The signed-in user, as returned by `CKContainer.userRecordID()`.
    ///   - databaseIdentifier: Identifier of a database of that container.
    /// - Returns: Whether the user is another one than before.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    @discardableResult
    public func useAccount(
        of userRecordID: CKRecord.ID, databaseIdentifier: String? = nil
    ) async throws -> Bool {
        try await runner.session.update {
            try $0.useAccount(of: userRecordID, databaseIdentifier: databaseIdentifier)
        }
    }
}
