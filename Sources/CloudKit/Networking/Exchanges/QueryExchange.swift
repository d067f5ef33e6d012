internal import CloudWire

/// Fetches the records of a query, page by page, up to the limit or the end.
struct QueryExchange: OperationExchange {
    typealias Event = FetchedRecord

    /// Maximum records of one request.
    static let itemsMax = 200

    private let address: RequestAddress
    /// Number of records still to fetch. With nil, the server decides, and one page with records is enough.
    private var wanted: Int?
    private var next: RecordsQueryRequest?
    private var failure: CKError?
    private var cursor: CKQueryCursor?

    /// - Parameter request: the first request; nil for a query that matches nothing; or the error of an invalid query.
    init(_ request: Result<RecordsQueryRequest?, CKError>, resultsLimit: Int, address: RequestAddress) {
        self.address = address
        wanted = resultsLimit > 0 ? resultsLimit : nil
        switch request {
        case .success(let request):
            next = request
            next?.query = request?.query.map { address.outgoing($0, in: request?.zoneID) }
        case .failure(let error): failure = error
        }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, CKQueryCursor?> {
        if let failure { throw failure }
        guard var request = next else { return .finished(cursor) }
        request.resultsLimit = wanted.map { Int64(min($0, Self.itemsMax)) }
        next = request
        return .send(try address.request("records/query", message: request))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        guard let sent = next else { return [] }
        next = nil
        do throws(CKError) {
            let response = try ResponseDecoder.decode(RecordsQueryResponse.self, from: reply)
            let events = response.records.compactMap { event($0, sent, reply) }
            guard let marker = response.continuationMarker else { return events }
            guard !events.isEmpty || marker != sent.continuationMarker else {
                throw .unreadable("more records are coming, but the continuation marker doesn't change")
            }
            var following = sent
            following.continuationMarker = marker
            wanted = wanted.map { $0 - events.count }
            // An empty page isn't always the last one: the server stops after a limited search.
            if wanted.map({ $0 > 0 }) ?? events.isEmpty {
                next = following
            } else {
                following.resultsLimit = nil
                cursor = CKQueryCursor(following)
            }
            return events
        } catch {
            failure = error
            return []
        }
    }

    private func event(
        _ result: RecordResult, _ sent: RecordsQueryRequest, _ reply: Result<WireResponse, CKError>
    ) -> Event? {
        switch result {
        case .record(let record):
            guard let recordName = record.recordName else { return nil }
            let zoneID = (record.zoneID ?? sent.zoneID).map { address.zoneID($0) } ?? .default
            return FetchedRecord(
                recordID: CKRecordID(recordName: recordName, zoneID: zoneID),
                result: address.record(record, in: zoneID))
        case .error(let error):
            guard let recordName = error.recordName else { return nil }
            let zoneID = sent.zoneID.map { address.zoneID($0) } ?? .default
            let recordID = CKRecordID(recordName: recordName, zoneID: zoneID)
            return FetchedRecord(
                recordID: recordID, result: .failure(address.error(error, in: reply, record: recordID)))
        case .tombstone: return nil
        }
    }
}
