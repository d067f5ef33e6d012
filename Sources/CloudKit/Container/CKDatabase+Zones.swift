internal import System

extension CKDatabase {
    /// What became of each zone of one request.
    public typealias ModifyRecordZonesResult = (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    )

    // MARK: Several zones

    /// Makes and deletes zones in one request; one that is there already stays as it is.
    /// - Returns: what became of each zone; one that failed for itself is no failure of the whole.
    /// - Throws: `CKError` when the request failed as a whole.
    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> ModifyRecordZonesResult {
        try await result { self.startModify(recordZonesToSave, recordZoneIDsToDelete, $0) }
    }

    /// Makes and deletes zones in one request, and calls `completionHandler` with what became of each.
    @preconcurrency
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler: @escaping @Sendable (Result<ModifyRecordZonesResult, any Error>) -> Void
    ) {
        _ = startModify(recordZonesToSave, recordZoneIDsToDelete, completionHandler)
    }

    private func startModify(
        _ zones: [CKRecordZone], _ zoneIDs: [CKRecordZone.ID],
        _ completion: @escaping @Sendable (Result<ModifyRecordZonesResult, any Error>) -> Void
    ) -> CKOperation {
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: zones, recordZoneIDsToDelete: zoneIDs)
        let results = Lock<ModifyRecordZonesResult>(([:], [:]))
        operation.perRecordZoneSaveBlock = { zoneID, result in
            results.withLock { $0.saveResults[zoneID] = result }
        }
        operation.perRecordZoneDeleteBlock = { zoneID, result in
            results.withLock { $0.deleteResults[zoneID] = result }
        }
        operation.modifyRecordZonesResultBlock = { result in
            completion(result.map { results.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    /// Fetches zones.
    /// - Returns: each zone, or why it couldn't be fetched.
    /// - Throws: `CKError` when the request failed as a whole.
    public func recordZones(
        for zoneIDs: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await result { self.startFetch(CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs), $0) }
    }

    /// Fetches zones, and calls `completionHandler` with each, or why it couldn't be fetched.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>) ->
            Void
    ) {
        _ = startFetch(CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs), completionHandler)
    }

    /// Fetches all zones of the database, in the order of their names.
    /// - Throws: `CKError` when the request failed.
    public func allRecordZones() async throws -> [CKRecordZone] {
        try await result { self.startFetchAll($0) }
    }

    /// Fetches all zones of the database, and calls `completionHandler` with them or the error.
    @preconcurrency
    public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        _ = startFetchAll { completionHandler($0.value, $0.error) }
    }

    private func startFetchAll(
        _ completion: @escaping @Sendable (Result<[CKRecordZone], any Error>) -> Void
    ) -> CKOperation {
        startFetch(.fetchAllRecordZonesOperation()) { result in
            completion(
                result.map { zones in
                    zones.values.compactMap(\.value)
                        .sorted {
                            ($0.zoneID.zoneName, $0.zoneID.ownerName) < (
                                $1.zoneID.zoneName, $1.zoneID.ownerName
                            )
                        }
                })
        }
    }

    private func startFetch(
        _ operation: CKFetchRecordZonesOperation,
        _ completion:
            @escaping @Sendable (Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>) ->
            Void
    ) -> CKOperation {
        let results = Lock<[CKRecordZone.ID: Result<CKRecordZone, any Error>]>([:])
        operation.perRecordZoneResultBlock = { zoneID, result in results.withLock { $0[zoneID] = result } }
        operation.fetchRecordZonesResultBlock = { result in completion(result.map { results.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    // MARK: One zone

    /// Fetches the zone with `zoneID`.
    /// - Throws: `CKError.zoneNotFound` when there is none, and what else an operation can meet.
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await result { self.startFetch(zoneID, $0) }
    }

    /// Fetches the zone with `zoneID`, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        _ = startFetch(zoneID) { completionHandler($0.value, $0.error) }
    }

    private func startFetch(
        _ zoneID: CKRecordZone.ID, _ completion: @escaping @Sendable (Result<CKRecordZone, any Error>) -> Void
    ) -> CKOperation {
        startFetch(CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])) { result in
            completion(result.flatMap { $0.only(zoneID) })
        }
    }

    /// Makes `zone`; one that is there already stays as it is.
    /// - Returns: the zone, with what it can do.
    /// - Throws: what an operation can meet.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await result { self.startSave(zone, $0) }
    }

    /// Makes `zone`, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func save(
        _ zone: CKRecordZone, completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        _ = startSave(zone) { completionHandler($0.value, $0.error) }
    }

    private func startSave(
        _ zone: CKRecordZone, _ completion: @escaping @Sendable (Result<CKRecordZone, any Error>) -> Void
    ) -> CKOperation {
        startModify([zone], []) { result in
            completion(result.flatMap { $0.saveResults.only(zone.zoneID) })
        }
    }

    /// Deletes the zone with `zoneID` and all its records.
    /// - Returns: `zoneID`.
    /// - Throws: `CKError.zoneNotFound` when there is none, and what else an operation can meet.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await result { self.startDelete(zoneID, $0) }
    }

    /// Deletes the zone with `zoneID` and all its records, and calls `completionHandler` with its ID or the
    /// error.
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        _ = startDelete(zoneID) { completionHandler($0.value, $0.error) }
    }

    private func startDelete(
        _ zoneID: CKRecordZone.ID,
        _ completion: @escaping @Sendable (Result<CKRecordZone.ID, any Error>) -> Void
    ) -> CKOperation {
        startModify([], [zoneID]) { result in
            completion(result.flatMap { $0.deleteResults.only(zoneID) }.map { zoneID })
        }
    }
}
