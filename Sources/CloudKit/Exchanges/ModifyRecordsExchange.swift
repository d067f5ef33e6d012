internal import CloudWire

/// Saves and deletes records: one request a zone, in the order in which the zones are first named.
struct ModifyRecordsExchange: Exchange {
    enum Event: Sendable {
        case saved(CKRecordID, Result<RecordState, CKError>)
        case deleted(CKRecordID, Result<Void, CKError>)
    }

    /// Items that one operation may save and delete together.
    static let itemsMax = 400

    private enum Item {
        case save(RecordState)
        case delete(CKRecordID)

        var recordID: CKRecordID {
            switch self {
            case .save(let state): state.recordID
            case .delete(let recordID): recordID
            }
        }

        func failed(_ error: CKError) -> Event {
            switch self {
            case .save(let state): .saved(state.recordID, .failure(error.withRecords(of: state)))
            case .delete(let recordID): .deleted(recordID, .failure(error))
            }
        }
    }

    private let address: RequestAddress
    private let policy: CKModifyRecordsOperation.RecordSavePolicy
    private let isAtomic: Bool
    private var batches: [[Item]]
    /// The items of the request that is under way, and those refused before it was sent.
    private var sent: [Item] = []
    private var refusedHere: [Event] = []
    private var wasAnswered = false
    private var failure: CKError?

    init(
        saving records: [RecordState], deleting recordIDs: [CKRecordID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, isAtomic: Bool, address: RequestAddress
    ) {
        self.address = address
        self.policy = policy
        self.isAtomic = isAtomic
        let items = records.map { Item.save($0) } + recordIDs.map { Item.delete($0) }
        batches = items.grouped { $0.recordID.zoneID }
        failure = Self.problem(with: items)
    }

    private static func problem(with items: [Item]) -> CKError? {
        if items.count > itemsMax {
            return CKError(
                .limitExceeded,
                """
                The request contains \(items.count) items which is more than the maximum number of items in a single \
                request (\(itemsMax)): split it.
                """)
        }
        var seen: Set<CKRecordID> = []
        for item in items where !seen.insert(item.recordID).inserted {
            return CKError(
                .invalidArguments, "\(item.recordID.recordName) stands in the request more than once.")
        }
        return nil
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Void> {
        if let failure { throw failure }
        guard !batches.isEmpty else { return .finished(()) }
        return .send(try request(for: batches.removeFirst()))
    }

    private mutating func request(for items: [Item]) throws(CKError) -> WireRequest {
        sent = []
        refusedHere = []
        var operations: [RecordOperation] = []
        for item in items {
            do throws(CKError) {
                operations.append(try operation(for: item))
                sent.append(item)
            } catch {
                refusedHere.append(item.failed(error))
            }
        }
        let zoneID = items[0].recordID.zoneID
        let isAtomicBatch = isAtomic && zoneID.zoneName != CKRecordZoneID.defaultZoneName
        if isAtomicBatch, !refusedHere.isEmpty {
            // All or none: what could be sent isn't. The empty request still asks the server for the zone's errors.
            refusedHere += sent.map { $0.failed(.otherItemFailed) }
            sent = []
            operations = []
        }
        let message = RecordsModifyRequest(operations: operations, zoneID: zoneID.wire, atomic: isAtomicBatch)
        return try address.request("records/modify", message: message)
    }

    private func operation(for item: Item) throws(CKError) -> RecordOperation {
        switch item {
        case .save(let state): try state.saveOperation(policy)
        case .delete(let recordID):
            RecordOperation(operationType: .forceDelete, record: WireRecord(recordName: recordID.recordName))
        }
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try Message.decode(RecordsResponse.self, from: reply)
            guard response.records.count == sent.count else {
                throw CKError.unreadable("\(response.records.count) results for \(sent.count) operations")
            }
            wasAnswered = true
            return refusedHere + zip(sent, response.records).map { event(for: $0, $1) }
        } catch {
            // An error of the zone is one of each of its items; the same after another zone's records were saved.
            guard wasAnswered || error.isOfOneZone else {
                failure = error
                return []
            }
            wasAnswered = true
            return refusedHere + sent.map { $0.failed(error) }
        }
    }

    private func event(for item: Item, _ result: RecordResult) -> Event {
        switch (item, result) {
        case (.save(let state), .record(let record)):
            do throws(CKError) {
                return .saved(state.recordID, .success(try RecordState(record, in: state.recordID.zoneID)))
            } catch {
                return item.failed(error)
            }
        case (.delete(let recordID), .tombstone): return .deleted(recordID, .success(()))
        case (_, .error(let error)):
            return item.failed(CKError(error, serverRecordIn: item.recordID.zoneID))
        default: return item.failed(.unreadable("a deletion where a record was saved, or the other way"))
        }
    }
}

extension CKError {
    fileprivate static let otherItemFailed = CKError(
        .batchRequestFailed, "Not saved because another item of the atomic zone failed.")

    fileprivate init(_ error: WireError, serverRecordIn zoneID: CKRecordZoneID) {
        let serverState = error.serverRecord.flatMap { try? RecordState($0, in: zoneID) }
        self.init(
            error,
            userInfo: serverState.map { [CKRecordChangedErrorServerRecordKey: CKRecord(state: $0)] } ?? [:])
    }

    /// A conflict with the client's record and its ancestor beside the server's; any other error as it is.
    fileprivate func withRecords(of state: RecordState) -> CKError {
        guard code == .serverRecordChanged else { return self }
        var userInfo = userInfo
        userInfo[CKRecordChangedErrorClientRecordKey] = CKRecord(state: state)
        userInfo[CKRecordChangedErrorAncestorRecordKey] = state.ancestor.map { CKRecord(state: $0) }
        return CKError(code, userInfo: userInfo)
    }
}
