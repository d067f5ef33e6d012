import CloudWire
import Foundation
import System

/// What a writer outside the server knows of its writes: the only witness after a kill.
///
/// Each write is an atomic batch of three records, so that half a write can be seen. Names are never used again.
struct LedgerEntry: Sendable {
    enum Outcome: Sendable, Equatable {
        case acknowledged
        case refused
        /// The server died before the answer came.
        case unanswered
    }

    let names: [String]
    let number: Int64
    let operationID: String
    var outcome: Outcome
    /// How many records of it the server has, once that is known.
    var foundCount: Int?

    /// The batch; a poisoned one tries to make a record that exists, and must be refused whole.
    func operations(poisonedBy existing: String?) -> [RecordOperation] {
        (names + (existing.map { [$0] } ?? [])).map {
            RecordOperation(operationType: .create, record: RawDevice.record($0, number))
        }
    }
}

/// One of the clients that write while the server is killed. It blocks, and is used by one thread at a time.
final class LedgerWriter: @unchecked Sendable {
    // Sendable because a round runs each writer on one thread, and waits for it before the next.
    static let zone = "ledger"
    let name: String
    let token: Credential
    private let random: SeededRandomSource
    private(set) var entries: [LedgerEntry] = []
    private var count = 0

    init(name: String, token: Credential, seed: UInt64) {
        self.name = name
        self.token = token
        random = SeededRandomSource(seed: seed)
    }

    var acknowledgedCount: Int { entries.count { $0.outcome == .acknowledged } }

    /// Makes the record that poisoned batches stumble over.
    func makePoison(port: Int) throws {
        let device = try RawDevice(port: port, token: token, clientID: name)
        let record = RawDevice.record("\(name)-poison", 0)
        let response = try device.modify(
            [RecordOperation(operationType: .forceUpdate, record: record)], zone: Self.zone)
        guard response.status == 200 else { throw Failure("poison: \(response.text)") }
    }

    /// Writes until the server has ended.
    ///
    /// - Parameter stepped: called when a request was sent, and when its response has come.
    func writeUntilItDies(port: Int, stepped: @escaping @Sendable () -> Void) throws {
        guard let device = try? RawDevice(port: port, token: token, clientID: name) else { return }
        device.sent = stepped
        while true {
            count += 1
            let isPoisoned = random.next(in: 0..<4) == 0
            var entry = LedgerEntry(
                names: (0..<3).map { "\(name)-\(count)-\($0)" }, number: Int64(count),
                operationID: "\(name)-\(count)", outcome: .unanswered)
            let operations = entry.operations(poisonedBy: isPoisoned ? "\(name)-poison" : nil)
            guard
                let response = try? device.modify(
                    operations, zone: Self.zone, operationID: entry.operationID)
            else {
                // The retry must be the same request, so poisoned ones are left out of it.
                if !isPoisoned { entries.append(entry) }
                return
            }
            stepped()
            entry.outcome = try outcome(of: response)
            guard (entry.outcome == .refused) == isPoisoned else {
                throw Failure("\(entry.operationID): \(response.status) \(response.text)")
            }
            entries.append(entry)
        }
    }

    /// Looks what became of the writes that were not answered, and sends each again with its operation id: it must be
    /// there wholly or not at all before, and wholly after, with one result.
    func settle(port: Int) throws {
        guard entries.contains(where: { $0.outcome == .unanswered }) else { return }
        let device = try RawDevice(port: port, token: token, clientID: name)
        for index in entries.indices where entries[index].outcome == .unanswered {
            let entry = entries[index]
            let before = try tags(of: entry, device)
            guard before.isEmpty || before.count == 3 else {
                throw Failure("\(entry.operationID) is there in part: \(before)")
            }
            entries[index].foundCount = before.count
            let response = try device.modify(
                entry.operations(poisonedBy: nil), zone: Self.zone, operationID: entry.operationID)
            guard try outcome(of: response) == .acknowledged else {
                throw Failure("the retry of \(entry.operationID) (\(before.count) there): \(response.text)")
            }
            let after = try tags(of: entry, device)
            guard after.count == 3, before.isEmpty || before == after else {
                throw Failure("the retry of \(entry.operationID) wrote again: \(before) \(after)")
            }
            entries[index].outcome = .acknowledged
        }
    }

    /// Compares all that was written with what the server has. Returns what doesn't fit.
    func check(port: Int) throws -> [String] {
        let device = try RawDevice(port: port, token: token, clientID: name)
        var wrong: [String] = []
        for start in stride(from: 0, to: entries.count, by: 60) {
            let part = entries[start..<min(start + 60, entries.count)]
            let results = try device.lookup(part.flatMap(\.names), zone: Self.zone)
            for (index, entry) in part.enumerated() {
                let mine = results[(3 * index)..<(3 * index + 3)]
                let found = mine.count { result in
                    guard case .record(let record) = result else { return false }
                    return record.fields["number"]?.value == .int64(entry.number)
                }
                let expected = entry.outcome == .acknowledged ? 3 : 0
                if found != expected { wrong.append("\(entry.operationID) \(entry.outcome): \(found) of 3") }
            }
        }
        return wrong
    }

    private func tags(of entry: LedgerEntry, _ device: RawDevice) throws -> [String] {
        try device.lookup(entry.names, zone: Self.zone).compactMap { result in
            if case .record(let record) = result { record.recordChangeTag } else { nil }
        }
    }

    private func outcome(of response: RawResponse) throws -> LedgerEntry.Outcome {
        guard response.status == 200 else { throw Failure("\(response.status): \(response.text)") }
        let results = try RecordsResponse(json: response.body).records
        let errors = results.count { if case .error = $0 { true } else { false } }
        guard errors == 0 || errors == results.count else { throw Failure("in part: \(response.text)") }
        return errors == 0 ? .acknowledged : .refused
    }
}
