internal import System

/// Fetches zones: some by their IDs, or all.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The zones to fetch; nil for all of the database.
    public var recordZoneIDs: [CKRecordZone.ID]?

    /// Called for each zone.
    @preconcurrency public var perRecordZoneResultBlock:
        (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Called last. A failed zone doesn't fail the operation.
    @preconcurrency public var fetchRecordZonesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `fetchRecordZonesResultBlock`; not called if that is set. Gets `CKError.partialFailure` if
    /// zones have failed.
    @available(*, deprecated, renamed: "fetchRecordZonesResultBlock")
    @preconcurrency public var fetchRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    {
        get { olderFetchRecordZonesCompletionBlock }
        set { olderFetchRecordZonesCompletionBlock = newValue }
    }
    var olderFetchRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

    /// Makes an operation that fetches all zones.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the zones with `recordZoneIDs`.
    public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
    }

    /// Makes an operation that fetches all zones of the database.
    public class func fetchAllRecordZonesOperation() -> CKFetchRecordZonesOperation {
        CKFetchRecordZonesOperation()
    }

    private struct Outcome {
        var zones: [CKRecordZone.ID: CKRecordZone] = [:]
        var errors: [AnyHashable: any Error] = [:]
    }

    override func execute() {
        let zoneIDs = recordZoneIDs
        let outcome = Lock(Outcome())
        run { address in
            address.split(zoneIDs) { FetchZonesExchange(zoneIDs: $0, address: address) }
        } event: { zoneID, result in
            outcome.withLock { outcome in
                switch result {
                case .success(let zone): outcome.zones[zoneID] = zone
                case .failure(let error): outcome.errors[zoneID] = error
                }
            }
            self.perRecordZoneResultBlock?(zoneID, result.mapError { $0 })
        } completion: { result in
            if let block = self.fetchRecordZonesResultBlock { return block(result.mapError { $0 }) }
            let outcome = outcome.withLock { $0 }
            let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
            self.olderFetchRecordZonesCompletionBlock?(outcome.zones, error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perRecordZoneResultBlock.take(), fetchRecordZonesResultBlock.take(),
            olderFetchRecordZonesCompletionBlock.take()
        )
    }
}
