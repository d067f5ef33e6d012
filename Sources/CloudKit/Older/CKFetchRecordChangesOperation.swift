public import Foundation
internal import System

/// Fetches the changes of one zone since a token, one page. The predecessor of `CKFetchRecordZoneChangesOperation`,
/// with the same tokens.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The zone.
    public var recordZoneID: CKRecordZone.ID?
    /// The token of the last fetch; nil for the whole zone.
    public var previousServerChangeToken: CKServerChangeToken?
    /// Maximum changes to fetch; 0 leaves it to the server.
    public var resultsLimit = 0
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?
    /// True if the server has more; known once the operation is done.
    public var moreComing: Bool { hasMore.withLock { $0 } }
    private let hasMore = Lock(false)

    /// Called for each record that changed.
    @preconcurrency public var recordChangedBlock: (@Sendable (CKRecord) -> Void)?
    /// Called for each record that was deleted.
    @preconcurrency public var recordWithIDWasDeletedBlock: (@Sendable (CKRecord.ID) -> Void)?
    /// Called last, with the token for the next fetch.
    @preconcurrency public var fetchRecordChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the changes of `recordZoneID` since `previousServerChangeToken`.
    public convenience init(recordZoneID: CKRecordZone.ID, previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func execute() {
        let zone = FetchZoneChangesExchange.Zone(
            zoneID: recordZoneID ?? .default, token: previousServerChangeToken, resultsLimit: resultsLimit,
            desiredKeys: desiredKeys)
        let ended = Lock<Result<FetchZoneChangesExchange.ZoneEnd, CKError>?>(nil)
        run { address in
            DownloadingExchange(
                FetchZoneChangesExchange(zones: [zone], fetchesAllChanges: false, address: address),
                address: address)
        } event: { event in
            switch event {
            case .changed(_, .success(let state)): self.recordChangedBlock?(CKRecord(state: state))
            case .changed, .tokenUpdated: break
            case .deleted(let recordID, _): self.recordWithIDWasDeletedBlock?(recordID)
            case .zoneEnded(_, let result): ended.withLock { $0 = result }
            }
        } completion: { result in
            let end = ended.withLock { $0 }
            self.hasMore.withLock { $0 = end?.value?.moreComing ?? false }
            self.fetchRecordChangesCompletionBlock?(
                end?.value?.token, end?.value?.clientToken, result.error ?? end?.error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            recordChangedBlock.take(), recordWithIDWasDeletedBlock.take(),
            fetchRecordChangesCompletionBlock.take()
        )
    }
}
