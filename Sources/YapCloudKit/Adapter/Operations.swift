internal import CloudKit
internal import System

extension CKModifyRecordsOperation {
    /// Returns an operation that sends a batch, and calls `completion` once with a result for each item.
    static func sending(
        _ batch: SyncBatch, completion: @escaping @Sendable (SendReply) -> Void
    ) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: batch.saves, recordIDsToDelete: batch.deletions)
        operation.savePolicy = .ifServerRecordUnchanged
        let outcomes = Lock<[CKRecord.ID: SendReply.Outcome]>([:])
        operation.perRecordSaveBlock = { recordID, result in
            let outcome: SendReply.Outcome
            switch result {
            case .success(let record): outcome = .saved(record)
            case .failure(let error): outcome = .failed(CKError(wrapping: error))
            }
            _ = outcomes.withLock { $0.updateValue(outcome, forKey: recordID) }
        }
        operation.perRecordDeleteBlock = { recordID, result in
            let outcome: SendReply.Outcome
            switch result {
            case .success: outcome = .deleted
            case .failure(let error): outcome = .failed(CKError(wrapping: error))
            }
            _ = outcomes.withLock { $0.updateValue(outcome, forKey: recordID) }
        }
        let items = batch.items
        operation.modifyRecordsResultBlock = { result in
            var error: CKError?
            if case .failure(let whole) = result { error = CKError(wrapping: whole) }
            let outcomes = outcomes.withLock { $0 }
            let results = items.map { item in
                (item, outcomes[item.recordID] ?? .failed(.ofItem(item.recordID, error)))
            }
            completion(SendReply(items: results, error: error))
        }
        return operation
    }
}

extension CKFetchRecordsOperation {
    /// Returns an operation that fetches records by their names, and calls `completion` once with a result for each.
    static func fetching(
        _ recordIDs: [CKRecord.ID], files: @escaping FileHandlingRule,
        completion: @escaping @Sendable ([CKRecord.ID: Result<CKRecord, CKError>]) -> Void
    ) -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.handleFiles(files)
        let fetched = Lock<[CKRecord.ID: Result<CKRecord, CKError>]>([:])
        operation.perRecordResultBlock = { recordID, result in
            let result = result.mapError { CKError(wrapping: $0) }
            fetched.withLock { $0[recordID] = result }
        }
        operation.fetchRecordsResultBlock = { result in
            var error: CKError?
            if case .failure(let whole) = result { error = CKError(wrapping: whole) }
            var results = fetched.withLock { $0 }
            for recordID in recordIDs where results[recordID] == nil {
                results[recordID] = .failure(.ofItem(recordID, error))
            }
            completion(results)
        }
        return operation
    }
}

extension CKFetchRecordZoneChangesOperation {
    /// Returns an operation that fetches one page, and calls `completion` once.
    static func page(
        of zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, countsRecords: Bool = false,
        files: FileHandlingRule? = nil,
        completion: @escaping @Sendable (Result<SyncPage, CKError>) -> Void
    ) -> CKFetchRecordZoneChangesOperation {
        let configuration = ZoneConfiguration(previousServerChangeToken: token)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
        operation.fetchAllChanges = false
        let state = Lock<(page: SyncPage, error: CKError?)>((SyncPage(zoneID: zoneID), nil))
        if let files { operation.handleFiles(files) }
        if countsRecords { operation.countRecords { sum in state.withLock { $0.page.checksum = sum } } }
        operation.observeSchemaVersion { version in state.withLock { $0.page.schemaVersion = version } }
        operation.recordWasChangedBlock = { _, result in
            let result = result.mapError { CKError(wrapping: $0) }
            state.withLock { state in
                switch result {
                case .success(let record): state.page.changed.append(record)
                case .failure(let error): state.error = error
                }
            }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, _ in
            state.withLock { $0.page.deleted.append(recordID) }
        }
        operation.recordZoneFetchResultBlock = { _, result in
            let result = result.mapError { CKError(wrapping: $0) }
            state.withLock { state in
                switch result {
                case .success(let end):
                    state.page.token = end.serverChangeToken
                    state.page.moreComing = end.moreComing
                case .failure(let error): state.error = error
                }
            }
        }
        operation.fetchRecordZoneChangesResultBlock = { result in
            var (page, error) = state.withLock { $0 }
            if case .failure(let whole) = result { error = error ?? CKError(wrapping: whole) }
            if error == nil, page.token == nil {
                error = .saying(.serverResponseLost, "the operation ended without a token")
            }
            completion(error.map { .failure($0) } ?? .success(page))
        }
        return operation
    }
}

extension CKModifyRecordZonesOperation {
    /// Returns an operation that creates a zone unless it exists, and calls `completion` once.
    static func creating(
        _ zoneID: CKRecordZone.ID, completion: @escaping @Sendable (CKError?) -> Void
    ) -> CKModifyRecordZonesOperation {
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)])
        let itemError = Lock<CKError?>(nil)
        operation.perRecordZoneSaveBlock = { _, result in
            guard case .failure(let error) = result else { return }
            let wrapped = CKError(wrapping: error)
            itemError.withLock { $0 = wrapped }
        }
        operation.modifyRecordZonesResultBlock = { result in
            var error = itemError.withLock { $0 }
            if case .failure(let whole) = result { error = error ?? CKError(wrapping: whole) }
            completion(error)
        }
        return operation
    }
}

extension CKModifySubscriptionsOperation {
    /// Returns an operation that saves one subscription, and calls `completion` once.
    static func saving(
        _ subscription: CKSubscription, completion: @escaping @Sendable (CKError?) -> Void
    ) -> CKModifySubscriptionsOperation {
        let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
        let itemError = Lock<CKError?>(nil)
        operation.perSubscriptionSaveBlock = { _, result in
            guard case .failure(let error) = result else { return }
            let wrapped = CKError(wrapping: error)
            itemError.withLock { $0 = wrapped }
        }
        operation.modifySubscriptionsResultBlock = { result in
            var error = itemError.withLock { $0 }
            if case .failure(let whole) = result { error = error ?? CKError(wrapping: whole) }
            completion(error)
        }
        return operation
    }
}

extension CKError {
    /// Returns the error of an item without a result of its own, taken from the error of the whole operation.
    fileprivate static func ofItem(_ recordID: CKRecord.ID, _ whole: CKError?) -> CKError {
        let lost = CKError.saying(
            .serverResponseLost, "the operation ended without a result for the record")
        guard let whole, whole.code == .partialFailure else { return whole ?? lost }
        return whole.partialErrorsByItemID?[recordID] as? CKError ?? lost
    }
}
