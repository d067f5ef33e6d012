internal import CloudWire

/// Fetches records by their IDs, in requests of up to `itemsMax` records of a zone.
struct FetchRecordsExchange: OperationExchange {
    typealias Event = FetchedRecord

    /// Maximum records of one request.
    static let itemsMax = 200

    private let address: RequestAddress
    private let desiredKeys: [String]?
    private var batches: [[CKRecordID]]
    private var sent: [CKRecordID] = []
    private var wasAnswered = false
    private var failure: CKError?

    init(recordIDs: [CKRecordID], desiredKeys: [String]?, address: RequestAddress) {
        self.address = address
        self.desiredKeys = desiredKeys
        batches = recordIDs.grouped { $0.zoneID }.flatMap { $0.chunks(countMax: Self.itemsMax) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let failure { throw failure }
        guard !batches.isEmpty else { return .finished(()) }
        sent = batches.removeFirst()
        let message = RecordsLookupRequest(
            records: sent.map { RecordsLookupRequest.Item(recordName: address.recordName($0)) },
            zoneID: sent[0].zoneID.wire, desiredKeys: desiredKeys?.onWire)
        return .send(try address.request("records/lookup", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try ResponseDecoder.decode(RecordsResponse.self, from: reply)
            guard response.records.count == sent.count else {
                throw CKError.unreadable("\(response.records.count) results for \(sent.count) records")
            }
            wasAnswered = true
            return zip(sent, response.records).map { recordID, result in
                FetchedRecord(recordID: recordID, result: self.result(result, of: recordID, in: reply))
            }
        } catch {
            guard wasAnswered || error.isOfOneZone else {
                failure = error
                return []
            }
            wasAnswered = true
            var failed = sent
            if error.isOfTheWholeOperation {
                // The other requests would fail as well, only later.
                failed += batches.joined()
                batches = []
            }
            return failed.map {
                FetchedRecord(
                    recordID: $0,
                    result: .failure(error.naming(record: $0, container: address.containerIdentifier)))
            }
        }
    }

    private func result(
        _ result: RecordResult, of recordID: CKRecordID, in reply: Result<WireResponse, CKError>
    ) -> Result<RecordState, CKError> {
        switch result {
        case .error(let error): .failure(address.error(error, in: reply, record: recordID))
        case .tombstone:
            .failure(
                address.error(
                    WireError(.notFound, reason: "The record was deleted."), in: reply, record: recordID))
        case .record(let record): address.record(record, in: recordID.zoneID)
        }
    }
}

/// A requested record, or its error.
struct FetchedRecord: FetchedRecordEvent {
    var recordID: CKRecordID
    var result: Result<RecordState, CKError>

    var fetchedRecord: RecordState? { result.value }

    func with(_ result: Result<RecordState, CKError>) -> FetchedRecord {
        FetchedRecord(recordID: recordID, result: result)
    }
}
