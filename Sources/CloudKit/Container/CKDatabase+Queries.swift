internal import System

extension CKDatabase {
    /// A page of a query's results.
    public typealias QueryPage = (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
    )

    /// Finds records, one page.
    /// - Parameters:
    ///   - query: the query.
    ///   - zoneID: the zone to search; nil for all zones of the database.
    ///   - desiredKeys: the fields to fetch; nil for all.
    ///   - resultsLimit: maximum records in the page.
    /// - Returns: the records in the query's order, and a cursor if there are more.
    /// - Throws: `CKError.invalidArguments` for an unsupported query, or another error of an operation.
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> QueryPage {
        try await result { self.start(CKQueryOperation(query: query), zoneID, desiredKeys, resultsLimit, $0) }
    }

    /// Finds the next records of a query.
    /// - Parameters:
    ///   - cursor: the end of the last page.
    ///   - desiredKeys: the fields to fetch; nil for those of the last page.
    ///   - resultsLimit: maximum records in the page.
    /// - Throws: the errors of an operation.
    public func records(
        continuingMatchFrom cursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> QueryPage {
        try await result { self.start(CKQueryOperation(cursor: cursor), nil, desiredKeys, resultsLimit, $0) }
    }

    /// Finds records, one page, and calls `completionHandler` with them.
    @preconcurrency
    public func fetch(
        withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<QueryPage, any Error>) -> Void
    ) {
        _ = start(CKQueryOperation(query: query), zoneID, desiredKeys, resultsLimit, completionHandler)
    }

    /// Finds the next records of a query, and calls `completionHandler` with them.
    @preconcurrency
    public func fetch(
        withCursor cursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<QueryPage, any Error>) -> Void
    ) {
        _ = start(CKQueryOperation(cursor: cursor), nil, desiredKeys, resultsLimit, completionHandler)
    }

    /// Finds the records of the first page. The older form.
    /// - Throws: the error of a failed record too.
    @available(*, deprecated, renamed: "records(matching:inZoneWith:desiredKeys:resultsLimit:)")
    @_disfavoredOverload
    public func records(
        matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        let page: QueryPage = try await records(matching: query, inZoneWith: zoneID, desiredKeys: nil)
        return try page.matchResults.map { try $0.1.get() }
    }

    /// Finds the records of the first page, and calls `completionHandler` with them or the error. The older
    /// form.
    @available(
        *, deprecated, renamed: "fetch(withQuery:inZoneWith:desiredKeys:resultsLimit:completionHandler:)"
    )
    @preconcurrency
    public func perform(
        _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
    ) {
        fetch(withQuery: query, inZoneWith: zoneID) { result in
            let records = result.flatMap { page in Result { try page.matchResults.map { try $0.1.get() } } }
            completionHandler(records.value, records.error)
        }
    }

    private func start(
        _ operation: CKQueryOperation, _ zoneID: CKRecordZone.ID?, _ desiredKeys: [CKRecord.FieldKey]?,
        _ resultsLimit: Int, _ completion: @escaping @Sendable (Result<QueryPage, any Error>) -> Void
    ) -> CKOperation {
        operation.zoneID = zoneID
        operation.desiredKeys = desiredKeys
        operation.resultsLimit = resultsLimit
        let found = Lock<[(CKRecord.ID, Result<CKRecord, any Error>)]>([])
        operation.recordMatchedBlock = { recordID, result in found.withLock { $0.append((recordID, result)) }
        }
        operation.queryResultBlock = { result in
            completion(result.map { (found.withLock { $0 }, $0) })
        }
        add(operation)
        return operation
    }
}
