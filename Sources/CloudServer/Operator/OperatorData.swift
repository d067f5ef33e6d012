import CloudService
import CloudStore
import CloudWire
import HTTPServer
import System

/// The endpoints of data. They execute the service's own endpoints as a user. Each change has a line in the
/// audit log before it is executed, whose outcome is written before the response is sent.
final class OperatorData: Sendable {
    private static let headersOfService = [WireHeader.client, WireHeader.operation]
    private static let itemsOfService = [
        "getCurrentSyncToken", OperatorView.countItem, OperatorView.bytesItem,
    ]
    /// Milliseconds during which further requests as the same user need no line.
    private static let lookMilliseconds: Int64 = 900_000
    /// Maximum number of users that an administrator reads as in an hour. Each adds a line to the audit log,
    /// and must not displace others.
    static let looksOfHourMax = 200

    /// An administrator's reads as a user, in a container.
    private struct Look: Hashable {
        let administrator: Int64
        let container: CloudService.Container
        let user: String
    }

    private let audit: OperatorAudit
    private let control: ControlStore
    private let table: EnvironmentTable
    private let gate: OperatorGate
    private let queue: FairWorker
    private let clock: any TimeSource
    private let looks = Lock<[Look: Int64]>([:])

    /// - Parameter queue: the handler's thread, on which `answer` is called and outcomes are written.
    init(
        _ control: ControlStore, _ audit: OperatorAudit, _ table: EnvironmentTable, _ gate: OperatorGate,
        _ queue: FairWorker, clock: any TimeSource
    ) {
        self.audit = audit
        self.control = control
        self.gate = gate
        self.table = table
        self.queue = queue
        self.clock = clock
    }

    /// Responds to a request about records or zones, asynchronously.
    func answer(
        _ request: OperatorRequest, _ container: CloudService.Container, scope: String, _ endpoint: Endpoint
    ) throws {
        let user = try request.user
        // Before a line is written about an impossible change.
        guard try control.containers.exists(container.identifier) else {
            throw Refusal.noSuchContainer(container)
        }
        var line = request.auditLine(.lookAsUser, outcome: .done)
        line.container = container.identifier
        line.environment = container.environment
        line.database = scope
        line.user = user
        let change = request.endpoint.isChange ? change(of: request, line, endpoint) : nil
        var request = request
        if change == nil, let user {
            let look = Look(administrator: request.administrator.id, container: container, user: user)
            // The request history includes everything in the audit log.
            if try noteFirst(look, line) { request.reply.ofOperator?.isKept = true }
        }
        let number = try change.map { try audit.begin($0) }
        let caller = OperatorCaller(userRecordName: user)
        let asked = request
        let isTaken = gate.enter { [self] in
            ask(wireRequest(asked, container, scope, endpoint), container, caller, asked) { [self] response in
                gate.leave()
                finish(number, change?.count ?? 0, response, asked.reply)
            }
        }
        guard !isTaken else { return }
        if let number { audit.finish(number, .refused, note: "TRY_AGAIN_LATER") }
        request.reply.send(Refusal.busy)
    }

    // MARK: The audit log

    /// Returns the audit line of a change.
    private func change(of request: OperatorRequest, _ look: AuditLine, _ endpoint: Endpoint) -> AuditLine {
        var line = request.auditLine(AuditLine.Action(change: endpoint))
        line.container = look.container
        line.environment = look.environment
        line.database = look.database
        line.user = look.user
        line.name(what: request.http.body, of: endpoint)
        return line
    }

    /// Writes a line about a user's data being read, unless there is a recent one. Called only on the
    /// handler's thread.
    ///
    /// - Returns: true if it wrote one.
    private func noteFirst(_ look: Look, _ line: AuditLine) throws -> Bool {
        let now = clock.nowMilliseconds()
        let (isNoted, count) = looks.withLock { looks in
            looks = looks.filter { (0..<3_600_000).contains(now - $0.value) }
            let before = looks[look].map { now - $0 < Self.lookMilliseconds } ?? false
            return (before, looks.keys.count { $0.administrator == look.administrator })
        }
        guard !isNoted else { return false }
        guard count < Self.looksOfHourMax else { throw Refusal.tooManyLooks }
        try audit.begin(line)
        looks.withLock { $0[look] = now }
        return true
    }

    /// Writes the outcome of a change, and responds. Called on a thread of the service, which must not wait
    /// for the file.
    private func finish(_ number: Int64?, _ count: Int, _ response: WireResponse, _ reply: Reply) {
        guard let number else { return reply.send(response) }
        let refusedCount = response.note.recordErrors.values.reduce(0, +)
        let isRefused = response.status >= 400 || (count > 0 && refusedCount >= count)
        let outcome: AuditLine.Outcome = response.status >= 500 ? .failed : isRefused ? .refused : .done
        let refused = response.note.recordErrors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let note = response.note.errorCode ?? (refused.isEmpty ? nil : refused.joined(separator: ", "))
        let isTaken = queue.submitOwed { [audit] in
            audit.finish(number, outcome, note: note)
            reply.send(response)
        }
        if !isTaken { reply.send(response) }
    }

    // MARK: The service

    private func ask(
        _ wire: WireRequest, _ container: CloudService.Container, _ caller: OperatorCaller,
        _ request: OperatorRequest, _ completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let cancellation = request.cancellation
        table.use(container, from: request.peer, bodyBytes: wire.body.count) { [table] result in
            switch result {
            case .failure(let error):
                completion(error.response(requestID: request.head.requestID, extras: false))
            case .success(let environment):
                environment.thread.send(wire, for: caller, cancellation: cancellation) { response in
                    table.release(environment)
                    completion(response)
                }
            }
        }
    }

    private func wireRequest(
        _ request: OperatorRequest, _ container: CloudService.Container, _ scope: String,
        _ endpoint: Endpoint
    ) -> WireRequest {
        let head = request.head
        let path =
            "/database/1/\(container.identifier)/\(container.environment)/\(scope)/\(endpoint.rawValue)"
        var wire = WireRequest(
            method: "POST", path: path, query: head.query.filter { Self.itemsOfService.contains($0.name) },
            headers: Self.headersOfService.compactMap { name in head.header(name).map { (name, $0) } },
            body: request.http.body, requestID: head.requestID, serverURL: request.serverURL,
            peer: request.peer)
        wire.isTraced = true
        return wire
    }
}

extension AuditLine {
    /// Adds the names of a change's records or zones from its body. A body that can't be parsed changes
    /// nothing.
    fileprivate mutating func name(what body: [UInt8], of endpoint: Endpoint) {
        let zones: [String]
        switch endpoint {
        case .zonesModify:
            names =
                (try? ZonesModifyRequest(request: body))?.operations.map { $0.zone.zoneID.zoneName } ?? []
            zones = names
        case .assetsUpload:
            let request = try? AssetsUploadRequest(request: body)
            names = request?.tokens.map { $0.recordName ?? "" } ?? []
            zones = request.map { [$0.zoneID?.zoneName ?? ZoneID.defaultZoneName] } ?? []
        default:
            let request = try? RecordsModifyRequest(request: body)
            names = request?.operations.map { $0.record.recordName ?? "" } ?? []
            let shared = request?.zoneID
            zones = (request?.operations ?? []).map {
                ($0.record.zoneID ?? shared)?.zoneName ?? ZoneID.defaultZoneName
            }
        }
        count = names.count
        names = Array(names.prefix(Self.namesMax))
        zone = Set(zones).count == 1 ? zones.first : nil
    }
}

extension AuditLine.Action {
    /// The audit action of an endpoint that changes users' data.
    fileprivate init(change endpoint: Endpoint) {
        switch endpoint {
        case .zonesModify: self = .zonesChanged
        case .assetsUpload: self = .filesSent
        default: self = .recordsChanged
        }
    }
}
