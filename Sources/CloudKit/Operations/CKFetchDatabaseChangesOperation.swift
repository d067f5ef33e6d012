/// Fetches the zones of a database that have changed since a token.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The token of the last fetch; nil for all zones.
    public var previousServerChangeToken: CKServerChangeToken?
    /// Maximum zones in one page; 0 leaves it to the server.
    public var resultsLimit = 0
    /// True to fetch all pages; false for one page, after which the app continues if more are coming.
    public var fetchAllChanges = true

    /// Called for each zone that is new or has changed records.
    @preconcurrency public var recordZoneWithIDChangedBlock: (@Sendable (CKRecordZone.ID) -> Void)?
    /// Called for each deleted zone, unless a block below is set for the reason.
    @preconcurrency public var recordZoneWithIDWasDeletedBlock: (@Sendable (CKRecordZone.ID) -> Void)?
    /// Called for each zone that the user deleted by hand.
    @preconcurrency public var recordZoneWithIDWasPurgedBlock: (@Sendable (CKRecordZone.ID) -> Void)?
    /// Called for each zone that was deleted because the user reset their encrypted data.
    @preconcurrency public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        (@Sendable (CKRecordZone.ID) -> Void)?
    /// Called after each page but the last. Store the token once the page's changes are stored.
    @preconcurrency public var changeTokenUpdatedBlock: (@Sendable (CKServerChangeToken) -> Void)?
    /// Called last.
    @preconcurrency public var fetchDatabaseChangesResultBlock:
        (@Sendable (Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?
    /// The older form of `fetchDatabaseChangesResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "fetchDatabaseChangesResultBlock")
    @preconcurrency public var fetchDatabaseChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    {
        get { olderFetchDatabaseChangesCompletionBlock }
        set { olderFetchDatabaseChangesCompletionBlock = newValue }
    }
    var olderFetchDatabaseChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, Bool, (any Error)?) -> Void)?

    /// Makes an operation that fetches all zones.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the changes since `previousServerChangeToken`.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func execute() {
        let token = previousServerChangeToken
        let limit = resultsLimit > 0 ? resultsLimit : nil
        let fetchesAllChanges = fetchAllChanges
        run { address in
            FetchDatabaseChangesExchange(
                since: token, resultsLimit: limit, fetchesAllChanges: fetchesAllChanges, address: address)
        } event: { event in
            switch event {
            case .changed(let zoneID): self.recordZoneWithIDChangedBlock?(zoneID)
            case .deleted(let zoneID, let reason): self.block(for: reason)?(zoneID)
            case .tokenUpdated(let token): self.changeTokenUpdatedBlock?(token)
            }
        } completion: { result in
            if let block = self.fetchDatabaseChangesResultBlock {
                block(result.map { ($0.token, $0.moreComing) }.mapError { $0 })
            } else {
                let output = result.value
                self.olderFetchDatabaseChangesCompletionBlock?(
                    output?.token, output?.moreComing ?? false, result.error)
            }
        }
    }

    private func block(
        for reason: CKDatabase.DatabaseChange.Deletion.Reason
    ) -> (@Sendable (CKRecordZone.ID) -> Void)? {
        switch reason {
        case .deleted: recordZoneWithIDWasDeletedBlock
        case .purged: recordZoneWithIDWasPurgedBlock ?? recordZoneWithIDWasDeletedBlock
        case .encryptedDataReset:
            recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock ?? recordZoneWithIDWasDeletedBlock
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            recordZoneWithIDChangedBlock.take(), recordZoneWithIDWasDeletedBlock.take(),
            recordZoneWithIDWasPurgedBlock.take(),
            recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock.take(), changeTokenUpdatedBlock.take(),
            fetchDatabaseChangesResultBlock.take(), olderFetchDatabaseChangesCompletionBlock.take()
        )
    }
}
