import CloudWire
import Foundation
import System

/// One of the clients that do everything at once while the server is killed: saves that make types and fields, files,
/// cascades, queries, subscriptions. It blocks, and is used by one thread at a time.
final class MixedClient: @unchecked Sendable {
    // Sendable because a round runs each client on one thread, and waits for it before the next.
    static let zone = "mixed"
    static let watchedType = "Watched"
    /// The collection of a user has no more notifications than 1,000.
    private static let watchedMax = 150

    let token: Credential
    var ledger: MixedLedger
    private let random: SeededRandomSource
    private var count: Int64 = 0
    /// The connection of this life of the server.
    private var device: RawDevice?

    init(name: String, token: Credential, seed: UInt64) {
        self.token = token
        ledger = MixedLedger(name: name)
        random = SeededRandomSource(seed: seed)
    }

    var name: String { ledger.name }

    func connect(port: Int) throws -> RawDevice { try RawDevice(port: port, token: token, clientID: name) }

    /// The server died before it answered.
    struct Unanswered: Error {}

    /// Works until the server has ended.
    ///
    /// - Parameter stepped: called when a request was sent, and when a step is done.
    func workUntilItDies(port: Int, stepped: @escaping @Sendable () -> Void) throws {
        guard let device = try? connect(port: port) else { return }
        device.sent = stepped
        self.device = device
        defer { self.device = nil }
        do {
            while true {
                try step()
                stepped()
            }
        } catch is Unanswered {}
    }

    private func step() throws {
        count += 1
        let isPublic = random.next(in: 0..<5) == 0
        let fresh = MixedLedger.Group(isPublic: isPublic, number: Int(count))
        let present = ledger.present
        let old = present.isEmpty ? fresh : present[random.next(in: 0..<present.count)]
        switch random.next(in: 0..<12) {
        case 0...2: try write(fresh)
        case 3: try write(fresh, file: upload(for: fresh))
        case 4: try write(old)
        case 5: try write(old, file: upload(for: old))
        case 6: try delete(old)
        case 7: try writePoisoned()
        case 8, 9: try query(old)
        case 10: try subscribe()
        default: try makeWatched()
        }
    }

    // MARK: Requests

    /// An answer, or nil where the server asks to come again.
    private func ask(_ path: String, _ message: some JSONMessage) throws -> RawResponse? {
        guard let device, let response = try? device.post(path, message) else { throw Unanswered() }
        if [429, 503].contains(response.status) { return nil }
        guard response.status == 200 else {
            throw Failure("\(name): \(path): \(response.status) \(response.text)")
        }
        return response
    }

    private func zoneID(_ group: MixedLedger.Group) -> ZoneID? {
        group.isPublic ? nil : ZoneID(zoneName: Self.zone)
    }

    private func database(_ group: MixedLedger.Group) -> String { group.isPublic ? "public" : "private" }

    /// Whether all of a batch was done; nil when nothing was, and it may come again.
    private func modify(_ group: MixedLedger.Group, _ operations: [RecordOperation]) throws -> Bool? {
        let request = RecordsModifyRequest(operations: operations, zoneID: zoneID(group))
        guard let response = try ask("\(database(group))/records/modify", request) else { return nil }
        let results = try RecordsResponse(json: response.body).records
        let errors = results.count { if case .error = $0 { true } else { false } }
        guard errors == 0 || errors == results.count else { throw Failure("in part: \(response.text)") }
        return errors == 0
    }

    // MARK: Writes

    private func operations(_ group: MixedLedger.Group, _ write: MixedLedger.Written, _ file: Asset?)
        -> [RecordOperation]
    {
        let names = ledger.names(group)
        return names.enumerated().map { index, name in
            var fields = [
                "number": Field(.int64(write.number)),
                "text": Field(.string("word\(write.number) of \(self.name)")),
                write.extraField: Field(.int64(write.number)),
            ]
            if index > 0 {
                fields["first"] = Field(.reference(Reference(recordName: names[0], action: .deleteSelf)))
            }
            if index == 0, let file { fields["file"] = Field(.asset(file)) }
            return RecordOperation(
                operationType: .forceReplace,
                record: WireRecord(recordName: name, recordType: ledger.recordType(group), fields: fields))
        }
    }

    private func write(_ group: MixedLedger.Group, file: (bytes: [UInt8], asset: Asset)? = nil) throws {
        let write = MixedLedger.Written(number: count, extraField: "extra\(count % 40)", file: file?.bytes)
        ledger.remember(write)
        try attempt(group, count, operations(group, write, file?.asset))
    }

    /// The first of a group takes the others along.
    private func delete(_ group: MixedLedger.Group) throws {
        guard ledger.possible[group] != nil else { return }
        let record = WireRecord(recordName: ledger.names(group)[0])
        try attempt(group, nil, [RecordOperation(operationType: .forceDelete, record: record)])
    }

    private func attempt(_ group: MixedLedger.Group, _ number: Int64?, _ operations: [RecordOperation]) throws
    {
        do {
            guard let isDone = try modify(group, operations) else { return }
            guard isDone else { throw Failure("\(name) \(count): a write was refused") }
            ledger.note(group, number, isSure: true)
        } catch let error as Unanswered {
            ledger.note(group, number, isSure: false)
            throw error
        }
    }

    /// A batch that must be refused whole, with a type that then must not be there.
    private func writePoisoned() throws {
        let group = MixedLedger.Group(isPublic: false, number: Int(count))
        let recordType = "Never_\(name)_\(count)"
        var operations = (0..<2).map { index in
            RecordOperation(
                operationType: .create,
                record: WireRecord(
                    recordName: "\(name)-never\(count)-\(index)", recordType: recordType,
                    fields: ["number": Field(.int64(count))]))
        }
        let poison = WireRecord(recordName: "absent", recordType: recordType, recordChangeTag: "1")
        operations.append(RecordOperation(operationType: .update, record: poison))
        guard let isDone = try modify(group, operations) else { return }
        guard !isDone else { throw Failure("\(name) \(count) is poisoned and was saved") }
        ledger.noteRefused(recordType)
    }

    private func makeWatched() throws {
        guard ledger.watched.count < Self.watchedMax else { return }
        let record = "\(name)-watched\(count)"
        let operation = RecordOperation(
            operationType: .create,
            record: WireRecord(
                recordName: record, recordType: Self.watchedType, fields: ["number": Field(.int64(count))]))
        do {
            let done = try modify(MixedLedger.Group(isPublic: false, number: 0), [operation])
            if let done {
                guard done else { throw Failure("\(record) was refused") }
                ledger.note(watched: record, isSure: true)
            }
        } catch let error as Unanswered {
            ledger.note(watched: record, isSure: false)
            throw error
        }
    }

    // MARK: Files

    /// Sends a file for the first record of a group; nil when the server asks to come again.
    private func upload(for group: MixedLedger.Group) throws -> (bytes: [UInt8], asset: Asset)? {
        var request = AssetsUploadRequest(tokens: [
            .init(fieldName: "file", recordType: ledger.recordType(group), recordName: ledger.names(group)[0])
        ])
        request.zoneID = zoneID(group)
        guard let response = try ask("\(database(group))/assets/upload", request), let device else {
            return nil
        }
        let url = try AssetsUploadResponse(json: response.body).tokens[0].url
        let bytes = AssetClient.bytes(random.next(in: 1..<20_000), seed: random.next())
        let target = String(url.dropFirst("http://127.0.0.1:\(device.port)".count))
        guard let sent = try? RawConnection(port: device.port).exchange("POST", target, body: bytes) else {
            throw Unanswered()
        }
        guard sent.status == 200 else { throw Failure("\(name): the upload: \(sent.status) \(sent.text)") }
        return (bytes, try AssetUploadedResponse(json: sent.body).singleFile)
    }

    // MARK: Queries and subscriptions

    /// Asks for a group by its number, on an index that others write just now.
    private func query(_ group: MixedLedger.Group) throws {
        guard let number = ledger.number(of: group) else { return }
        let filter = RecordFilter(
            comparator: "EQUALS", fieldName: "number", fieldValue: Field(.int64(number)))
        let request = RecordsQueryRequest(
            query: RecordQuery(recordType: ledger.recordType(group), filterBy: [filter]),
            zoneID: zoneID(group))
        guard let response = try ask("\(database(group))/records/query", request) else { return }
        let found = try RecordsQueryResponse(json: response.body).records.compactMap { result in
            if case .record(let record) = result { record.recordName } else { nil }
        }
        guard found.sorted() == ledger.names(group).sorted() else {
            throw Failure("\(name): \(number) is found in \(found)")
        }
    }

    private func subscribe() throws {
        let id = "\(name)-s\(random.next(in: 0..<20))"
        let isThere = ledger.subscriptions[id]?.contains(false) ?? true
        var subscription = WireSubscription(subscriptionID: id, subscriptionType: .query)
        if isThere {
            subscription.query = RecordQuery(recordType: ledger.recordType(.init(isPublic: false, number: 0)))
            subscription.query?.filterBy = [
                RecordFilter(comparator: "LESS_THAN", fieldName: "number", fieldValue: Field(.int64(0)))
            ]
            subscription.zoneID = ZoneID(zoneName: Self.zone)
            subscription.firesOn = [.create, .update]
        }
        let request = SubscriptionsModifyRequest(operations: [
            SubscriptionOperation(operationType: isThere ? .create : .delete, subscription: subscription)
        ])
        do {
            guard let response = try ask("private/subscriptions/modify", request) else { return }
            // Before a type has been made there is nothing to subscribe to.
            let result = try SubscriptionsResponse(json: response.body).subscriptions.first
            guard case .subscription? = result else { return }
            ledger.note(subscription: id, isThere: isThere, isSure: true)
        } catch let error as Unanswered {
            ledger.note(subscription: id, isThere: isThere, isSure: false)
            throw error
        }
    }
}
