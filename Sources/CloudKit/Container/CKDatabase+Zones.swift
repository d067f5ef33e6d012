internal import System

extension CKDatabase {
    /// The result for each zone of a request.
    public typealias ModifyRecordZonesResult = (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    )

    // MARK: Several zones

    /// Makes and deletes zones in one request; an existing zone stays unchanged.
    /// - Returns: the result for each zone; an item that fails doesn't fail the request.
    /// - Throws: `CKError` if the whole request fails.
    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> ModifyRecordZonesResult {
        try await result { self.startModify(recordZonesToSave, recordZoneIDsToDelete, $0) }
    }

    /// Makes and deletes zones in one request, and calls `completionHandler` with the result for each.
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
    /// - Returns: each zone, or its error.
    /// - Throws: `CKError` if the whole request fails.
    public func recordZones(
        for zoneIDs: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
        try await result { self.startFetch(CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs), $0) }
    }

    /// Fetches zones, and calls `completionHandler` with each, or its error.
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
    /// - Throws: `CKError` if the request fails.
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
    /// - Throws: `CKError.zoneNotFound` if it doesn't exist, or another error of an operation.
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

    /// Creates `zone`; an existing zone stays unchanged.
    /// - Returns: the zone, with its capabilities.
    /// - Throws: the errors of an operation.
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
    /// - Throws: `CKError.zoneNotFound` if it doesn't exist, or another error of an operation.
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
