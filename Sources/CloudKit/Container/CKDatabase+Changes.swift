internal import System

extension CKDatabase {
    /// A page of a database's changes.
    public typealias DatabaseChangesResult = (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )

    /// A page of a zone's changes.
    public typealias RecordZoneChangesResult = (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )

    /// Fetches the zones that changed since `changeToken`, one page.
    /// - Parameters:
    ///   - changeToken: the token of the app's last fetch; nil for all zones.
    ///   - resultsLimit: maximum zones in the page; nil leaves it to the server.
    /// - Throws: `CKError.changeTokenExpired` if everything must be fetched again, or another error of an
    ///   operation.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> DatabaseChangesResult {
        try await result { self.startDatabaseChanges(changeToken, resultsLimit, $0) }
    }

    /// Fetches which zones changed since `changeToken`, one page, and calls `completionHandler` with them.
    @preconcurrency
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<DatabaseChangesResult, any Error>) -> Void
    ) {
        _ = startDatabaseChanges(changeToken, resultsLimit, completionHandler)
    }

    private func startDatabaseChanges(
        _ changeToken: CKServerChangeToken?, _ resultsLimit: Int?,
        _ completion: @escaping @Sendable (Result<DatabaseChangesResult, any Error>) -> Void
    ) -> CKOperation {
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: changeToken)
        operation.resultsLimit = resultsLimit ?? 0
        operation.fetchAllChanges = false
        let page = Lock<([DatabaseChange.Modification], [DatabaseChange.Deletion])>(([], []))
        operation.recordZoneWithIDChangedBlock = { zoneID in
            page.withLock { $0.0.append(DatabaseChange.Modification(zoneID: zoneID)) }
        }
        let deleted: @Sendable (DatabaseChange.Deletion.Reason) -> (@Sendable (CKRecordZone.ID) -> Void) = {
            reason in
            { zoneID in page.withLock { $0.1.append(DatabaseChange.Deletion(zoneID: zoneID, reason: reason)) }
            }
        }
        operation.recordZoneWithIDWasDeletedBlock = deleted(.deleted)
        operation.recordZoneWithIDWasPurgedBlock = deleted(.purged)
        operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = deleted(.encryptedDataReset)
        operation.fetchDatabaseChangesResultBlock = { result in
            let (modifications, deletions) = page.withLock { $0 }
            completion(result.map { (modifications, deletions, $0.serverChangeToken, $0.moreComing) })
        }
        add(operation)
        return operation
    }

    /// Fetches the changes of a zone since `changeToken`, one page.
    /// - Parameters:
    ///   - zoneID: the zone.
    ///   - changeToken: the token of the app's last fetch; nil for the whole zone.
    ///   - desiredKeys: the fields to fetch; nil for all.
    ///   - resultsLimit: maximum changes in the page; nil leaves it to the server.
    /// - Throws: `CKError.zoneNotFound`, `CKError.changeTokenExpired` if everything must be fetched again, or
    ///   another error of an operation.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> RecordZoneChangesResult {
        try await result { self.startZoneChanges(zoneID, changeToken, desiredKeys, resultsLimit, $0) }
    }

    /// Fetches the changes of a zone since `changeToken`, one page, and calls `completionHandler` with it.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil,
        completionHandler: @escaping @Sendable (Result<RecordZoneChangesResult, any Error>) -> Void
    ) {
        _ = startZoneChanges(zoneID, changeToken, desiredKeys, resultsLimit, completionHandler)
    }

    private struct ZonePage {
        var modifications: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>] = [:]
        var deletions: [RecordZoneChange.Deletion] = []
        var end: Result<(token: CKServerChangeToken, moreComing: Bool), any Error>?
    }

    private func startZoneChanges(
        _ zoneID: CKRecordZone.ID, _ changeToken: CKServerChangeToken?, _ desiredKeys: [CKRecord.FieldKey]?,
        _ resultsLimit: Int?,
        _ completion: @escaping @Sendable (Result<RecordZoneChangesResult, any Error>) -> Void
    ) -> CKOperation {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: changeToken, resultsLimit: resultsLimit, desiredKeys: desiredKeys)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
        operation.fetchAllChanges = false
        let page = Lock(ZonePage())
        operation.recordWasChangedBlock = { recordID, result in
            page.withLock { page in
                page.modifications[recordID] = result.map { RecordZoneChange.Modification(record: $0) }
            }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, recordType in
            page.withLock { page in
                page.deletions.append(RecordZoneChange.Deletion(recordID: recordID, recordType: recordType))
            }
        }
        operation.recordZoneFetchResultBlock = { _, result in
            page.withLock { page in page.end = result.map { ($0.serverChangeToken, $0.moreComing) } }
        }
        operation.fetchRecordZoneChangesResultBlock = { result in
            let page = page.withLock { $0 }
            completion(
                result.flatMap {
                    page.end ?? .failure(CKError.unreadable("a response without the requested zone"))
                }.map { (page.modifications, page.deletions, $0.token, $0.moreComing) })
        }
        add(operation)
        return operation
    }
}
