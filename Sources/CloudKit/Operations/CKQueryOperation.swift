internal import CloudWire
import Foundation
internal import System

/// Runs a query.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The end of a page.
    public typealias Cursor = CKQueryCursor

    /// The `resultsLimit` that leaves the number of records to the server.
    public class var maximumResults: Int { 0 }

    /// The query. Ignored if there is a `cursor`.
    public var query: CKQuery?
    /// The end of an earlier page. The operation continues there.
    public var cursor: Cursor?
    /// The zone to search; nil for all zones of the database. Ignored if there is a `cursor`.
    public var zoneID: CKRecordZone.ID?
    /// Maximum records; `maximumResults` leaves it to the server.
    public var resultsLimit = CKQueryOperation.maximumResults
    /// The fields to fetch; nil for all, none for `[]`.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Called for each record, in the query's order.
    @preconcurrency public var recordMatchedBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called last, with a cursor if there are more records.
    @preconcurrency public var queryResultBlock: (@Sendable (Result<Cursor?, any Error>) -> Void)?
    /// The older form of `recordMatchedBlock`; not called if that is set, nor for a failed record.
    @available(*, deprecated, renamed: "recordMatchedBlock")
    @preconcurrency public var recordFetchedBlock: (@Sendable (CKRecord) -> Void)?
    {
        get { olderRecordFetchedBlock }
        set { olderRecordFetchedBlock = newValue }
    }
    var olderRecordFetchedBlock: (@Sendable (CKRecord) -> Void)?
    /// The older form of `queryResultBlock`; not called if that is set. Gets `CKError.partialFailure` if records have
    /// failed.
    @available(*, deprecated, renamed: "queryResultBlock")
    @preconcurrency public var queryCompletionBlock: (@Sendable (Cursor?, (any Error)?) -> Void)?
    {
        get { olderQueryCompletionBlock }
        set { olderQueryCompletionBlock = newValue }
    }
    var olderQueryCompletionBlock: (@Sendable (Cursor?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that runs `query`.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Makes an operation that continues at the end of another one.
    public convenience init(cursor: Cursor) {
        self.init()
        self.cursor = cursor
    }

    override func execute() {
        let resultsLimit = resultsLimit
        let errors = Lock<[AnyHashable: any Error]>([:])
        run { address in
            let request: Result<RecordsQueryRequest?, CKError> = self.request(address.clock)
            let first = request.value ?? nil
            return UserResolvingExchange(
                namesUser: address.namesUser(first?.query, in: first?.zoneID), address: address
            ) { address in
                DownloadingExchange(
                    QueryExchange(request, resultsLimit: resultsLimit, address: address), address: address)
            }
        } event: { fetched in
            let recordID = fetched.recordID
            let result = fetched.result.map { CKRecord(state: $0) }
            if let error = result.error { errors.withLock { $0[recordID] = error } }
            if let block = self.recordMatchedBlock {
                block(recordID, result.mapError { $0 })
            } else if let record = result.value {
                self.olderRecordFetchedBlock?(record)
            }
        } completion: { result in
            if let block = self.queryResultBlock { return block(result.mapError { $0 }) }
            let errors = errors.withLock { $0 }
            let error = result.error ?? (errors.isEmpty ? nil : .partialFailure(errors))
            self.olderQueryCompletionBlock?(result.value ?? nil, error)
        }
    }

    /// Returns the request for the first page, or nil if the query can't match any record.
    private func request(_ clock: any TimeSource) -> Result<RecordsQueryRequest?, CKError> {
        Result { () throws(CKError) in try request(clock) }
    }

    private func request(_ clock: any TimeSource) throws(CKError) -> RecordsQueryRequest? {
        if let cursor {
            var request = cursor.request
            if let desiredKeys { request.desiredKeys = desiredKeys.onWire }
            return request
        }
        guard let query else {
            throw CKError(.invalidArguments, "A CKQueryOperation needs a query or a cursor.")
        }
        guard let wire = try query.wire(zoneID: zoneID, clock: clock) else { return nil }
        return RecordsQueryRequest(
            query: wire, zoneID: zoneID?.wire, zoneWide: zoneID == nil ? true : nil,
            desiredKeys: desiredKeys?.onWire)
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            recordMatchedBlock.take(), queryResultBlock.take(), olderRecordFetchedBlock.take(),
            olderQueryCompletionBlock.take()
        )
    }
}

extension CKQuery {
    /// Returns the query in a request, or nil if it can't match any record.
    /// - Parameter clock: the clock of `now()`.
    func wire(zoneID: CKRecordZoneID?, clock: any TimeSource) throws(CKError) -> RecordQuery? {
        let date = Date(milliseconds: clock.nowMilliseconds())
        let filters = try QueryFilters(Predicate(predicate), zoneID: zoneID, date: date)
        guard !filters.matchesNothing else { return nil }
        var sorts: [RecordSort] = []
        for descriptor in sortDescriptors ?? [] { sorts.append(try RecordSort(descriptor)) }
        return RecordQuery(
            recordType: recordType, filterBy: filters.filters.isEmpty ? nil : filters.filters,
            sortBy: sorts.isEmpty ? nil : sorts)
    }
}

extension RecordSort {
    fileprivate init(_ descriptor: NSSortDescriptor) throws(CKError) {
        guard let key = descriptor.key, !key.isEmpty else {
            throw CKError(
                .invalidArguments, "A query's sort descriptor has to be made with the key of a field.")
        }
        guard let place = (descriptor as? CKLocationSortDescriptor)?.relativeLocation else {
            self.init(fieldName: SystemFieldName.wireName(key), ascending: descriptor.ascending)
            return
        }
        self.init(
            fieldName: key, ascending: descriptor.ascending,
            relativeLocation: try RecordFieldValue.location(place).wire(isEncrypted: false, in: .default))
    }
}
