internal import CloudWire
import Foundation

/// Saves and deletes records: one request for each zone, in the order in which the zones first appear.
struct ModifyRecordsExchange: OperationExchange {
    // Indirect, as the items are: a record is a dozen references, and is passed on several times.
    indirect enum Event: Sendable {
        case saved(CKRecordID, Result<RecordState, CKError>)
        case deleted(CKRecordID, Result<Void, CKError>)
    }

    /// Maximum items that one operation saves and deletes.
    static let itemsMax = 400
    /// Maximum items of one request to a server that isn't ours.
    static let itemsMaxElsewhere = 200

    private indirect enum Item {
        case save(RecordState)
        case delete(CKRecordID)

        var recordID: CKRecordID {
            switch self {
            case .save(let state): state.recordID
            case .delete(let recordID): recordID
            }
        }

        /// - Parameter container: the container's identifier, for the message of the error.
        func failed(_ error: CKError, in container: String) -> Event {
            let error = error.naming(record: recordID, container: container)
            return switch self {
            case .save(let state): .saved(state.recordID, .failure(error.withRecords(of: state)))
            case .delete(let recordID): .deleted(recordID, .failure(error))
            }
        }
    }

    private struct Conflict {
        var state: RecordState
        var error: CKError
    }

    private let address: RequestAddress
    private let policy: CKModifyRecordsOperation.RecordSavePolicy
    private let isAtomic: Bool
    private let clientChangeToken: [UInt8]?
    private let uploads: AssetUploads
    private var batches: [[Item]]
    /// The items of the request in flight.
    private var sent: [Item] = []
    /// Conflicts without the server's records, which are fetched next.
    private var conflicts: [Conflict] = []
    private var isLookingUp = false
    private var wasAnswered = false
    private var failure: CKError?

    init(
        saving records: [RecordState], deleting recordIDs: [CKRecordID],
        policy: CKModifyRecordsOperation.RecordSavePolicy, isAtomic: Bool,
        clientChangeToken: Data? = nil, uploads: AssetUploads = AssetUploads(), address: RequestAddress
    ) {
        self.address = address
        self.clientChangeToken = clientChangeToken.map { [UInt8]($0) }
        self.uploads = uploads
        self.policy = policy
        self.isAtomic = isAtomic
        let items = records.map { Item.save($0) } + recordIDs.map { Item.delete($0) }
        let zones = items.grouped { $0.recordID.zoneID }
        failure = Self.problem(with: items)
        batches = []
        if failure == nil,
            let tooMany = zones.first(where: { self.isAtomic($0) && $0.count > address.itemsMax })
        {
            failure = .tooManyItems(tooMany.count, countMax: address.itemsMax)
        }
        batches = zones.flatMap { $0.chunks(countMax: address.itemsMax) }
    }

    private static func problem(with items: [Item]) -> CKError? {
        if items.count > itemsMax { return .tooManyItems(items.count, countMax: itemsMax) }
        var seen = Set<CKRecordID>(minimumCapacity: items.count)
        for item in items where !seen.insert(item.recordID).inserted {
            return CKError(
                .invalidArguments, "\(item.recordID.recordName) is in the request more than once.")
        }
        return nil
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let failure { throw failure }
        if !conflicts.isEmpty { return .send(try conflictsLookup()) }
        guard !batches.isEmpty else { return .finished(()) }
        return try step(for: batches.removeFirst())
    }

    private mutating func step(for items: [Item]) throws(CKError) -> ExchangeStep<Event, Void> {
        var operations: [RecordOperation] = []
        var refused: [Event] = []
        sent = []
        for item in items {
            do throws(CKError) {
                operations.append(try operation(for: item))
                sent.append(item)
            } catch {
                refused.append(failed(item, error))
            }
        }
        let circles = operations.parentCycles
        if !circles.isEmpty {
            refused += circles.sorted().map { failed(sent[$0], .circularParent(of: sent[$0].recordID)) }
            sent = sent.indices.filter { !circles.contains($0) }.map { sent[$0] }
        }
        let isAtomicBatch = isAtomic(items)
        if !refused.isEmpty {
            if isAtomicBatch { return .report(refused + sent.map { failed($0, .otherItemFailed) }) }
            if !sent.isEmpty { batches.insert(sent, at: 0) }
            return .report(refused)
        }
        let message = RecordsModifyRequest(
            operations: operations, zoneID: items[0].recordID.zoneID.wire, atomic: isAtomicBatch,
            // The record is known here, so the response needs only tags and times. It is unknown if Apple's servers
            // accept a key that no field has.
            desiredKeys: address.serverKind == .yap ? [CKRecord.FieldKey]().onWire : nil,
            clientChangeToken: address.serverKind == .yap ? clientChangeToken : nil)
        return .send(
            try address.request(
                "records/modify", message: message, identity: message.withoutReceipts,
                zoneID: items[0].recordID.zoneID))
    }

    private func isAtomic(_ items: [Item]) -> Bool {
        isAtomic && items[0].recordID.zoneID.zoneName != CKRecordZoneID.defaultZoneName
    }

    private func operation(for item: Item) throws(CKError) -> RecordOperation {
        switch item {
        case .save(let state): try state.saveOperation(policy, uploads: uploads, address: address)
        case .delete(let recordID):
            RecordOperation(
                operationType: .forceDelete, record: WireRecord(recordName: address.recordName(recordID)))
        }
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        if isLookingUp { return receiveConflicts(reply) }
        do throws(CKError) {
            let response = try ResponseDecoder.decode(RecordsResponse.self, from: reply)
            guard response.records.count == sent.count else {
                throw .unreadable("\(response.records.count) results for \(sent.count) operations")
            }
            wasAnswered = true
            return zip(sent, response.records).compactMap { event(for: $0, $1, reply) }
        } catch {
            // Apple's servers accept fewer items than the framework does.
            let isOurs = reply.value?.hasExtras ?? true
            if error.code == .limitExceeded, !isOurs, sent.count > Self.itemsMaxElsewhere, !isAtomic(sent) {
                batches = sent.chunks(countMax: Self.itemsMaxElsewhere) + batches
                return []
            }
            // An error of the zone is an error of each item, even after records of another zone were saved.
            guard wasAnswered || error.isOfOneZone else {
                failure = error
                return []
            }
            wasAnswered = true
            guard error.isOfTheWholeOperation else { return sent.map { failed($0, error) } }
            // The requests of the other zones would fail as well, only later.
            defer { batches = [] }
            return (sent + batches.joined()).map { failed($0, error) }
        }
    }

    private func failed(_ item: Item, _ error: CKError) -> Event {
        item.failed(error, in: address.containerIdentifier)
    }

    private mutating func event(
        for item: Item, _ result: RecordResult, _ reply: Result<WireResponse, CKError>
    ) -> Event? {
        switch (item, result) {
        case (.save(let state), .record(let record)):
            return .saved(
                state.recordID,
                address.record(record, in: state.recordID.zoneID))
        case (.delete(let recordID), .tombstone): return .deleted(recordID, .success(()))
        case (.save(let state), .error(let error)):
            let serverState = error.serverRecord.flatMap {
                address.record($0, in: state.recordID.zoneID).value
            }
            let error = address.error(
                error, in: reply, record: state.recordID,
                userInfo: serverState.map { [CKRecordChangedErrorServerRecordKey: CKRecord(state: $0)] }
                    ?? [:])
            if error.code == .serverRecordChanged, error.serverRecord == nil {
                conflicts.append(Conflict(state: state, error: error))
                return nil
            }
            return failed(item, error)
        case (.delete(let recordID), .error(let error)):
            return failed(item, address.error(error, in: reply, record: recordID))
        default:
            let error = CKError.unreadable("a deletion in place of a saved record, or the reverse")
            return failed(item, error.naming(request: reply.value?.requestID))
        }
    }

    // MARK: Conflicts of a server that doesn't send its record

    private mutating func conflictsLookup() throws(CKError) -> WireRequest {
        isLookingUp = true
        let message = RecordsLookupRequest(
            records: conflicts.map {
                RecordsLookupRequest.Item(recordName: address.recordName($0.state.recordID))
            },
            zoneID: conflicts[0].state.recordID.zoneID.wire)
        return try address.request("records/lookup", message: message)
    }

    private mutating func receiveConflicts(_ reply: Result<WireResponse, CKError>) -> [Event] {
        defer {
            conflicts = []
            isLookingUp = false
        }
        // Without the server's record, a conflict is still reported as a conflict.
        let results = (try? ResponseDecoder.decode(RecordsResponse.self, from: reply))?.records ?? []
        return conflicts.enumerated().map { index, conflict in
            var error = conflict.error
            if index < results.count, case .record(let record) = results[index],
                let state = address.record(record, in: conflict.state.recordID.zoneID).value
            {
                error = error.adding(CKRecord(state: state), CKRecordChangedErrorServerRecordKey)
            }
            return failed(.save(conflict.state), error)
        }
    }
}

extension CKError {
    fileprivate static func tooManyItems(_ count: Int, countMax: Int) -> CKError {
        CKError(
            .limitExceeded,
            """
            The request contains \(count) items which is more than the maximum number of items in a single request \
            (\(countMax)): split it.
            """)
    }

    fileprivate static func circularParent(of recordID: CKRecordID) -> CKError {
        CKError(
            .invalidArguments,
            "\(recordID.recordName) can't be saved: the record is its own ancestor."
        )
    }

    fileprivate static let otherItemFailed = CKError(
        .batchRequestFailed, "Not saved because another item of the atomic zone failed.")

    /// Returns a conflict with the client's record and its ancestor added; any other error unchanged.
    fileprivate func withRecords(of state: RecordState) -> CKError {
        guard code == .serverRecordChanged else { return self }
        let error = adding(CKRecord(state: state), CKRecordChangedErrorClientRecordKey)
        guard let ancestor = state.ancestor else { return error }
        return error.adding(CKRecord(state: ancestor), CKRecordChangedErrorAncestorRecordKey)
    }

    fileprivate func adding(_ record: CKRecord, _ key: String) -> CKError {
        var userInfo = userInfo
        userInfo[key] = record
        return CKError(code, userInfo: userInfo)
    }
}
