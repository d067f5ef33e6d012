internal import System

/// Creates and deletes zones.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The zones to create; an existing zone stays unchanged.
    public var recordZonesToSave: [CKRecordZone]?
    /// The zones to delete, with all their records.
    public var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Called for each zone of `recordZonesToSave`.
    @preconcurrency public var perRecordZoneSaveBlock:
        (@Sendable (CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// Called for each zone of `recordZoneIDsToDelete`.
    @preconcurrency public var perRecordZoneDeleteBlock:
        (@Sendable (CKRecordZone.ID, Result<Void, any Error>) -> Void)?
    /// Called last. A failed zone doesn't fail the operation.
    @preconcurrency public var modifyRecordZonesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `modifyRecordZonesResultBlock`; not called if that is set. Gets `CKError.partialFailure` if
    /// zones have failed.
    @available(*, deprecated, renamed: "modifyRecordZonesResultBlock")
    @preconcurrency public var modifyRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    {
        get { olderModifyRecordZonesCompletionBlock }
        set { olderModifyRecordZonesCompletionBlock = newValue }
    }
    var olderModifyRecordZonesCompletionBlock:
        (@Sendable ([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that creates `recordZonesToSave` and deletes `recordZoneIDsToDelete`.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    private struct Outcome {
        var saved: [CKRecordZone] = []
        var deleted: [CKRecordZone.ID] = []
        var errors: [AnyHashable: any Error] = [:]
    }

    override func execute() {
        let saves = (recordZonesToSave ?? []).map(\.zoneID)
        let deletions = recordZoneIDsToDelete ?? []
        let outcome = Lock(Outcome())
        run { address in
            address.split(saving: saves, deleting: deletions) {
                ModifyZonesExchange(saving: $0, deleting: $1, address: address)
            }
        } event: { event in
            switch event {
            case .saved(let zoneID, let result):
                outcome.withLock { outcome in
                    switch result {
                    case .success(let zone): outcome.saved.append(zone)
                    case .failure(let error): outcome.errors[zoneID] = error
                    }
                }
                self.perRecordZoneSaveBlock?(zoneID, result.mapError { $0 })
            case .deleted(let zoneID, let result):
                outcome.withLock { outcome in
                    switch result {
                    case .success: outcome.deleted.append(zoneID)
                    case .failure(let error): outcome.errors[zoneID] = error
                    }
                }
                self.perRecordZoneDeleteBlock?(zoneID, result.mapError { $0 })
            }
        } completion: { result in
            if let block = self.modifyRecordZonesResultBlock { return block(result.mapError { $0 }) }
            let outcome = outcome.withLock { $0 }
            let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
            self.olderModifyRecordZonesCompletionBlock?(outcome.saved, outcome.deleted, error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perRecordZoneSaveBlock.take(), perRecordZoneDeleteBlock.take(),
            modifyRecordZonesResultBlock.take(), olderModifyRecordZonesCompletionBlock.take()
        )
    }
}
