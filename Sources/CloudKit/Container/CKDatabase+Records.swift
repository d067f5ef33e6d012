internal import System

extension CKDatabase {
    /// The result for each record of a request.
    public typealias ModifyRecordsResult = (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    // MARK: Several records

    /// Saves and deletes records in one request.
    /// - Parameters:
    ///   - recordsToSave: Records to save.
    ///   - recordIDsToDelete: IDs of the records to delete.
    ///   - savePolicy: the handling of records that changed on the server.
    ///   - atomically: whether a zone's records are saved all or none.
    /// - Returns: the result for each record; an item that fails doesn't fail the request.
    /// - Throws: `CKError` if the whole request fails.
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> ModifyRecordsResult {
        try await result {
            self.startModify(recordsToSave, recordIDsToDelete, savePolicy, atomically, $0)
        }
    }

    /// Saves and deletes records in one request, and calls `completionHandler` with the result for each.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true,
        completionHandler: @escaping @Sendable (Result<ModifyRecordsResult, any Error>) -> Void
    ) {
        _ = startModify(recordsToSave, recordIDsToDelete, savePolicy, atomically, completionHandler)
    }

    private func startModify(
        _ records: [CKRecord], _ recordIDs: [CKRecord.ID],
        _ savePolicy: CKModifyRecordsOperation.RecordSavePolicy, _ isAtomic: Bool,
        _ completion: @escaping @Sendable (Result<ModifyRecordsResult, any Error>) -> Void
    ) -> CKOperation {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: recordIDs)
        operation.savePolicy = savePolicy
        operation.isAtomic = isAtomic
        let results = Lock<ModifyRecordsResult>(([:], [:]))
        operation.perRecordSaveBlock = { recordID, result in
            results.withLock { $0.saveResults[recordID] = result }
        }
        operation.perRecordDeleteBlock = { recordID, result in
            results.withLock { $0.deleteResults[recordID] = result }
        }
        operation.modifyRecordsResultBlock = { result in
            completion(result.map { results.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    /// Fetches records.
    /// - Parameters:
    ///   - recordIDs: IDs of the records to fetch.
    ///   - desiredKeys: The fields to fetch, or nil for all.
    /// - Returns: each record, or its error.
    /// - Throws: `CKError` if the whole request fails.
    public func records(
        for recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await result { self.startFetch(recordIDs, desiredKeys, $0) }
    }

    /// Fetches records, and calls `completionHandler` with each, or its error.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>) -> Void
    ) {
        _ = startFetch(recordIDs, desiredKeys, completionHandler)
    }

    private func startFetch(
        _ recordIDs: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?,
        _ completion:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.desiredKeys = desiredKeys
        let results = Lock<[CKRecord.ID: Result<CKRecord, any Error>]>([:])
        operation.perRecordResultBlock = { recordID, result in results.withLock { $0[recordID] = result } }
        operation.fetchRecordsResultBlock = { result in completion(result.map { results.withLock { $0 } }) }
        add(operation)
        return operation
    }

    // MARK: One record

    /// Fetches the record with `recordID`.
    /// - Throws: `CKError.unknownItem` if it doesn't exist, or another error of an operation.
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await result { self.startFetch(recordID, $0) }
    }

    /// Fetches the record with `recordID`, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        _ = startFetch(recordID) { completionHandler($0.value, $0.error) }
    }

    private func startFetch(
        _ recordID: CKRecord.ID, _ completion: @escaping @Sendable (Result<CKRecord, any Error>) -> Void
    ) -> CKOperation {
        startFetch([recordID], nil) { result in
            completion(result.flatMap { $0.only(recordID) })
        }
    }

    /// Saves `record` if it is unchanged on the server.
    /// - Returns: the record, with the server's tag and times.
    /// - Throws: `CKError.serverRecordChanged` with the three records if it was changed, or another error of
    ///   an operation.
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await result { self.startSave(record, $0) }
    }

    /// Saves `record` if it is unchanged on the server, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func save(
        _ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        _ = startSave(record) { completionHandler($0.value, $0.error) }
    }

    private func startSave(
        _ record: CKRecord, _ completion: @escaping @Sendable (Result<CKRecord, any Error>) -> Void
    ) -> CKOperation {
        startModify([record], [], .ifServerRecordUnchanged, true) { result in
            completion(result.flatMap { $0.saveResults.only(record.recordID) })
        }
    }

    /// Deletes the record with `recordID`; deleting one that doesn't exist succeeds.
    /// - Returns: `recordID`.
    /// - Throws: `CKError.zoneNotFound` if its zone doesn't exist, or another error of an operation.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await result { self.startDelete(recordID, $0) }
    }

    /// Deletes the record with `recordID`, and calls `completionHandler` with its ID or the error.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        _ = startDelete(recordID) { completionHandler($0.value, $0.error) }
    }

    private func startDelete(
        _ recordID: CKRecord.ID, _ completion: @escaping @Sendable (Result<CKRecord.ID, any Error>) -> Void
    ) -> CKOperation {
        startModify([], [recordID], .ifServerRecordUnchanged, true) { result in
            completion(result.flatMap { $0.deleteResults.only(recordID) }.map { recordID })
        }
    }
}

extension Dictionary {
    /// Returns the result of the single requested item.
    func only<Item>(_ key: Key) -> Result<Item, any Error> where Value == Result<Item, any Error> {
        self[key] ?? .failure(CKError.unreadable("a response without the requested item"))
    }
}
