import CloudService
import CloudWire
import Dispatch
import System
import Testing

/// What a client knows of its writes, for who looks afterwards what became of them.
///
/// It owns groups of three records that are always written together, with one number, or deleted together. For each it
/// knows which numbers the cloud may have: one after an answer, more when the cloud didn't know itself.
final class LedgerClient: @unchecked Sendable {
    // Sendable because each is used by one thread at a time.
    struct Group: Hashable {
        let scope: DatabaseScope
        let number: Int
    }

    /// What may be there; nil: nothing.
    private(set) var possible: [Group: Set<Int64?>] = [:]
    /// How often it has surely counted up, and how often perhaps.
    private(set) var surelyCounted = 0
    private(set) var perhapsCounted = 0
    private(set) var refusedCount = 0
    private(set) var acknowledgedCount = 0
    var wrong: [String] = []
    /// The bytes of the files that were saved, by the number of the write.
    var files: [Int64: [UInt8]] = [:]
    /// Whether a subscription to what this client makes is surely there.
    var isSubscribed = false
    /// The records that were made while it surely was, and by writes that were acknowledged.
    var tellable: Set<String> = []

    let name: String
    let cloud: TestService
    private let thread: CloudServiceThread
    private(set) var lastNumber: Int64 = 0

    init(name: String, cloud: TestService, thread: CloudServiceThread) {
        self.name = name
        self.cloud = cloud
        self.thread = thread
    }

    /// Asks and waits for the answer.
    func ask(_ endpoint: String, _ body: some JSONMessage, _ scope: DatabaseScope, operationID: String? = nil)
        throws
        -> WireResponse
    {
        var request = cloud.request(endpoint, try body.json(extras: true), database: scope.rawValue)
        request.query.append(("clientId", name))
        if let operationID { request.headers.append((WireHeader.operation, operationID)) }
        let answer = Lock<WireResponse?>(nil)
        let done = DispatchSemaphore(value: 0)
        thread.send(request) { response in
            answer.withLock { $0 = response }
            done.signal()
        }
        done.wait()
        return try #require(answer.withLock { $0 })
    }

    enum Outcome { case acknowledged, refused, unknown }

    /// What an answer says of a batch of which all is saved or nothing.
    func outcome(_ response: WireResponse, _ what: String) -> Outcome {
        guard response.status == 200 else {
            switch try? WireError(json: response.body).serverErrorCode {
            case .tryAgainLater?:
                refusedCount += 1
                return .refused
            case .internalError?: return .unknown
            default:
                wrong.append("\(what): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
                return .unknown
            }
        }
        let results = (try? RecordsResponse(json: response.body).records) ?? []
        let errors = results.count { $0.error != nil }
        guard !results.isEmpty, errors == 0 || errors == results.count else {
            wrong.append("\(what): in part: \(String(decoding: response.body, as: UTF8.self))")
            return .unknown
        }
        if errors == 0 { acknowledgedCount += 1 }
        return errors == 0 ? .acknowledged : .refused
    }

    func names(_ group: Group) -> [String] { (0..<3).map { "\(name)-\(group.number)-\($0)" } }
    func zone(_ scope: DatabaseScope) -> ZoneID? { scope == .public ? nil : TestService.zone }

    /// Writes a group, or deletes it; a poisoned write must be refused. The third of a group refers to the first and
    /// goes along with it.
    func write(
        _ group: Group, deletes: Bool = false, isPoisoned: Bool = false, bytes: Int = 100,
        form: GroupForm = .plain
    ) throws {
        lastNumber += 1
        let names = names(group)
        var operations: [RecordOperation] = []
        if deletes {
            operations = names.prefix(2).map { operation(.forceDelete, $0) }
        } else {
            // Other bytes each time: SQLite doesn't write pages that stay the same.
            let byte = UInt8(truncatingIfNeeded: lastNumber)
            for (index, name) in names.enumerated() {
                var fields = [
                    "number": Field(.int64(lastNumber)),
                    "blob": Field(.bytes(.init(repeating: byte, count: bytes))),
                ]
                if index == 2 { fields["first"] = reference(names[0], .deleteSelf) }
                if index == 0, let file = form.file { fields["file"] = Field(.asset(file.asset)) }
                if let extra = form.extraField { fields[extra] = Field(.int64(lastNumber)) }
                operations.append(operation(.forceReplace, name, type: form.recordType, fields))
            }
            if isPoisoned { operations.append(operation(.update, "absent", tag: "1.1")) }
        }
        let request = RecordsModifyRequest(operations: operations, zoneID: zone(group.scope), atomic: true)
        let value = deletes ? nil : lastNumber
        files[lastNumber] = form.file?.bytes
        let isNew = possible[group].map { $0 == [nil] } ?? true
        let answer = try ask("records/modify", request, group.scope, operationID: "\(name)-\(lastNumber)")
        switch outcome(answer, "\(name) \(lastNumber)") {
        case .acknowledged:
            if isPoisoned { wrong.append("\(name) \(lastNumber) is poisoned and was saved") }
            possible[group] = [value]
            if isSubscribed, isNew, form.recordType == GroupForm.watchedType(name) {
                tellable.formUnion(names)
            }
        case .refused: break
        case .unknown: possible[group, default: [nil]].insert(value)
        }
    }

    /// Adds one to a record that all clients share, under the tag that it has.
    func count() throws {
        for _ in 0..<3 {
            let lookup = RecordsLookupRequest(
                records: [.init(recordName: "shared")], zoneID: TestService.zone)
            let found = try ask("records/lookup", lookup, .private)
            guard let record = try? RecordsResponse(json: found.body).records.first?.record,
                case .int64(let number)? = record.fields["number"]?.value
            else { return }
            let update = operation(
                .update, "shared", tag: record.recordChangeTag, ["number": Field(.int64(number + 1))])
            let request = RecordsModifyRequest(operations: [update], zoneID: TestService.zone)
            switch outcome(try ask("records/modify", request, .private), "\(name) counts") {
            case .acknowledged:
                surelyCounted += 1
                return
            case .unknown:
                perhapsCounted += 1
                return
            case .refused: continue
            }
        }
    }

    /// What doesn't fit, of all that this client wrote, in what `cloud` has.
    func differences(from cloud: TestService, _ when: String) throws -> [String] {
        var differences = wrong
        for (group, numbers) in possible.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let results = try cloud.lookup(
                names(group), zone: zone(group.scope), database: group.scope.rawValue)
            let found = results.map { result -> Int64? in
                if case .int64(let number)? = result.record?.fields["number"]?.value { number } else { nil }
            }
            if Set(found).count > 1 || !numbers.contains(found[0]) {
                differences.append("\(when): \(name) \(group): \(found), and may be \(numbers)")
            }
        }
        return differences
    }
}
