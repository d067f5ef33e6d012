internal import CloudWire

/// Finds records, page by page, until there are as many as were asked for or no more.
struct QueryExchange: OperationExchange {
    typealias Event = FetchedRecord

    /// Records that one request asks for.
    static let itemsMax = 200

    private let address: RequestAddress
    /// How many records are still wanted; nil leaves it to the server, and one page with records is enough.
    private var wanted: Int?
    private var next: RecordsQueryRequest?
    private var failure: CKError?
    private var cursor: CKQueryCursor?

    /// - Parameter request: the first request, nil for a query that nothing can match; or why there is none.
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
                throw .unreadable("more records are to come, but the marker stands still")
            }
            var following = sent
            following.continuationMarker = marker
            wanted = wanted.map { $0 - events.count }
            // A page may be empty and still not the last: it is where the server stopped looking.
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
