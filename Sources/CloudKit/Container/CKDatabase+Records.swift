internal import System

extension CKDatabase {
    /// What became of each record of one request.
    public typealias ModifyRecordsResult = (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    // MARK: Several records

    /// Saves and deletes records in one request.
    /// - Parameters:
    ///   - savePolicy: how a record is treated that changed on the server.
    ///   - atomically: whether a zone's records are saved all or none.
    /// - Returns: what became of each record; one that failed for itself is no failure of the whole.
    /// - Throws: `CKError` when the request failed as a whole.
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

    /// Saves and deletes records in one request, and calls `completionHandler` with what became of each.
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
    /// - Parameter desiredKeys: the fields to fetch; nil for all.
    /// - Returns: each record, or why it couldn't be fetched.
    /// - Throws: `CKError` when the request failed as a whole.
    public func records(
        for recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await result { self.startFetch(recordIDs, desiredKeys, $0) }
    }

    /// Fetches records, and calls `completionHandler` with each, or why it couldn't be fetched.
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
    /// - Throws: `CKError.unknownItem` when there is none, and what else an operation can meet.
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
    /// - Throws: `CKError.serverRecordChanged` with the three records when it isn't, and what else an
    ///   operation can meet.
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

    /// Deletes the record with `recordID`; deleting one that isn't there succeeds.
    /// - Returns: `recordID`.
    /// - Throws: `CKError.zoneNotFound` when its zone isn't there, and what else an operation can meet.
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
    /// The result of the one item that was asked for.
    func only<Item>(_ key: Key) -> Result<Item, any Error> where Value == Result<Item, any Error> {
        self[key] ?? .failure(CKError.unreadable("an answer without the item that was asked for"))
    }
}
