import CloudWire
import Foundation
import System

/// A user as most are: saves a record, looks one up, fetches what changed, and rests in between. All that was
/// acknowledged to it stands in its ledger.
final class OrdinaryUser {
    private static let zone = #"{"zoneName":"notes"}"#
    /// Records are changed again after so many.
    private static let recordsMax = 40

    let number: Int
    /// The value of each record whose save was acknowledged last.
    private(set) var ledger: [String: String] = [:]
    private let users: OrdinaryUsers
    private let caller: Caller
    private let random: SeededRandomSource
    private var connection: ClientConnection?
    private var syncToken: String?
    private var savesCount = 0

    init(_ number: Int, token: String, in users: OrdinaryUsers, random: SeededRandomSource) {
        self.number = number
        self.users = users
        self.random = random
        caller = Caller(address: "10.0.0.\(number + 1)", token: token, clientID: "device\(number)")
    }

    // MARK: Work

    /// Makes the zone.
    func setUp(_ completion: @escaping () -> Void) {
        let body = #"{"operations":[{"operationType":"create","zone":{"zoneID":\#(Self.zone)}}]}"#
        ask("zones/modify", body, isWrite: true) { _ in completion() }
    }

    /// Does one piece of work after the other until the users pause.
    func begin() {
        let phase = users.phase
        // By chance, so that no two users keep step.
        users.loop.after(milliseconds: Int64(random.next(in: 0..<users.restMilliseconds * 2))) { [self] in
            guard !users.isPaused, phase == users.phase else { return }
            users.underWay += 1
            let work: Work = ledger.isEmpty ? .save : Work.allCases[random.next(in: 0..<3)]
            let began = ClientLoop.now()
            self.work(work) { [self] in
                users.latencies.add(ClientLoop.now() - began, of: work)
                users.underWay -= 1
                begin()
            }
        }
    }

    private func work(_ work: Work, _ completion: @escaping () -> Void) {
        switch work {
        case .lookup: lookUp(completion)
        case .save: save(completion)
        case .changes: fetch(completion)
        }
    }

    private func save(_ completion: @escaping () -> Void) {
        savesCount += 1
        let name = "r\(savesCount % Self.recordsMax)"
        let value = "\(number) \(savesCount)"
        let body =
            #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"\#(name)","recordType":"Note","#
            + #""fields":{"title":{"value":"\#(value)"},"body":{"value":"Two dozen eggs from the farm."}}}}],"#
            + #""zoneID":\#(Self.zone)}"#
        ask("records/modify", body, isWrite: true) { [self] answer in
            if answer != nil { ledger[name] = value }
            completion()
        }
    }

    private func lookUp(_ completion: @escaping () -> Void) {
        let name = ledger.keys.sorted()[random.next(in: 0..<ledger.count)]
        let wanted = ledger[name] ?? ""
        let body = #"{"records":[{"recordName":"\#(name)"}],"zoneID":\#(Self.zone)}"#
        ask("records/lookup", body) { [self] answer in
            if let answer, !answer.text.contains("\"\(wanted)\"") {
                users.failed(self, "\(name) is \(answer.text.prefix(300)) and was acknowledged as \(wanted)")
            }
            completion()
        }
    }

    private func fetch(_ completion: @escaping () -> Void) {
        page(after: syncToken) { [self] page in
            if let page { syncToken = page.syncToken }
            completion()
        }
    }

    private func page(after token: String?, _ completion: @escaping (ZoneChanges?) -> Void) {
        let token = token.map { #","syncToken":"\#($0)""# } ?? ""
        ask("changes/zone", #"{"zones":[{"zoneID":\#(Self.zone)\#(token)}]}"#) { [self] answer in
            guard let answer else { return completion(nil) }
            let zones = (try? ChangesZoneResponse(json: answer.body))?.zones
            guard case .changes(let page)? = zones?.first else {
                users.failed(self, "changes/zone: \(answer.text.prefix(300))")
                return completion(nil)
            }
            completion(page)
        }
    }

    /// Fetches everything, and compares it with what was acknowledged.
    func audit(_ completion: @escaping () -> Void) {
        audit([:], after: nil, completion)
    }

    private func audit(_ before: [String: String], after token: String?, _ completion: @escaping () -> Void) {
        page(after: token) { [self] page in
            guard let page else { return completion() }
            var found = before
            for case .record(let record) in page.records {
                if case .string(let value)? = record.fields["title"]?.value, let name = record.recordName {
                    found[name] = value
                }
            }
            if page.moreComing == true { return audit(found, after: page.syncToken, completion) }
            for (name, value) in ledger.sorted(by: { $0.key < $1.key }) where found[name] != value {
                users.failed(
                    self, "lost: \(name) was acknowledged as \(value) and is \(found[name] ?? "gone")")
            }
            users.auditedCount += ledger.count
            completion()
        }
    }

    // MARK: Asking

    /// Asks until the answer is neither an end of the connection while the server is away nor a documented try-again.
    /// Anything else that is wrong is a failure, and the answer nil.
    private func ask(
        _ action: String, _ body: String, isWrite: Bool = false, _ completion: @escaping (Answer?) -> Void
    ) {
        // The same name at each try, as the framework has it: a write whose answer was lost is not done twice.
        let operation = isWrite ? random.nextUUID() : nil
        let request = users.requests.database(action, body, from: caller, operation: operation)
        ask(request, action, triesLeft: OrdinaryUsers.triesMax, completion)
    }

    private func ask(
        _ request: [UInt8], _ action: String, triesLeft: Int, _ completion: @escaping (Answer?) -> Void
    ) {
        if connection?.isOpen != true { connection = try? ClientConnection(users.loop, port: users.port) }
        guard let connection else { return again(request, action, Answer(), triesLeft, completion) }
        connection.send(request) { [self] answer in
            let isRefusal = answer.status == 503 || answer.status == 429
            if answer.status == 0 || isRefusal || answer.text.contains("TRY_AGAIN_LATER") {
                return again(request, action, answer, triesLeft, completion)
            }
            guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
                users.failed(self, "\(action): \(answer.status) \(answer.text.prefix(300))")
                return completion(nil)
            }
            completion(answer)
        }
    }

    private func again(
        _ request: [UInt8], _ action: String, _ answer: Answer, _ triesLeft: Int,
        _ completion: @escaping (Answer?) -> Void
    ) {
        users.retries[answer.status, default: 0] += 1
        guard triesLeft > 0 else {
            users.failed(
                self, "\(action): still \(answer.status) after all tries: \(answer.text.prefix(200))")
            return completion(nil)
        }
        // A connection that ended while nobody killed the server is the server's fault.
        if answer.status == 0, !users.mayBeAway {
            users.failed(self, "\(action): the connection ended without an answer")
        }
        let seconds = answer.retryAfterSeconds ?? 0.2
        users.loop.after(milliseconds: Int64(seconds * 1000)) { [self] in
            ask(request, action, triesLeft: triesLeft - 1, completion)
        }
    }
}
