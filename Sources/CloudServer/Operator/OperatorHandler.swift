import CloudService
import CloudStore
import CloudWire
import HTTPServer
import System

/// Handles the dashboard and the operator API: checks the session and the role, and passes each request to
/// its part. Reads and writes of the control file run on a thread of the handler, never on an event loop.
final class OperatorHandler: ThreadOwner {
    /// Maximum number of requests that wait for the handler's thread.
    private static let waitingMax = 256
    /// The request rate of an administrator.
    private static let rate = ServiceRates.Rate(perSecond: 20, burst: 100)

    let control: ControlStore
    let options: CloudServerOptions
    let sessions: OperatorSessions
    private let administration: OperatorAdministration
    private let data: OperatorData
    private let kept: OperatorOverview
    private let containers: OperatorContainers
    private let keys: OperatorKeys
    private let webhooks: OperatorWebhooks
    private let accounts: OperatorAccounts
    private let schemas: OperatorSchema
    private let counts: OperatorCounts
    private let happened: OperatorHistory
    private let files: DashboardFiles
    private let audit: OperatorAudit
    private let refusedLines = Lock(HourlyLimit())
    private let queue = FairWorker(jobsMax: waitingMax)
    private let rates = Lock(RateBuckets(rate))
    /// True once an administrator can sign in. Never reset.
    private let isOpen = Lock(false)
    private let log: ServerLog?

    /// - Throws: `CryptoError`, `CloudStoreError`.
    init(
        _ control: ControlStore, _ folder: DataFolder, _ options: CloudServerOptions, table: EnvironmentTable,
        history: RequestHistory?, log: ServerLog?
    ) throws {
        self.control = control
        self.options = options
        self.log = log
        files = try DashboardFiles()
        let audit = OperatorAudit(control, log)
        self.audit = audit
        sessions = try OperatorSessions(control, audit, options, log: log)
        administration = OperatorAdministration(control, audit)
        let gate = OperatorGate()
        data = OperatorData(control, audit, table, gate, queue, clock: options.clock)
        kept = OperatorOverview(control)
        containers = OperatorContainers(control, folder, audit)
        keys = OperatorKeys(control, audit)
        let stores = OperatorStores(control, audit, table, gate, queue, log)
        webhooks = OperatorWebhooks(stores)
        let sweep = OperatorSweep(control, folder, table, queue)
        accounts = OperatorAccounts(control, audit, stores, sweep, sessions)
        schemas = OperatorSchema(stores, folder)
        counts = OperatorCounts(stores)
        happened = OperatorHistory(
            history, HistoryStores(control: control, folder: folder), options)
    }

    /// Starts the threads. They live until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try queue.start(start)
        try sessions.start(start)
    }

    /// Sets the source of the current metrics.
    func setGauges(_ gauges: @escaping @Sendable () -> ServerStatus.Gauges?) {
        happened.setGauges(gauges)
    }

    /// True if only programs of this machine can reach the listener. There the dashboard is served before an
    /// administrator has a password.
    private var isLocal: Bool {
        options.listensOnLoopback && options.publicURL == nil && !options.trustsForwardedFor
    }

    /// Makes a link that signs the first administrator in, if the dashboard is served on loopback and no
    /// administrator has a password.
    ///
    /// - Returns: the link's secret, or nil if it isn't needed.
    /// - Throws: `CloudStoreError`.
    func makeFirstLink() throws -> String? { isLocal ? try control.administrators.makeFirstLink() : nil }

    /// Responds with the page or one of its files.
    func sendPage(_ head: HTTPRequestHead, _ reply: Reply, peer: String) {
        guard head.method == "GET" else { return reply.send(Refusal.wrongMethod("GET")) }
        submit(of: peer, reply) { [self] in
            guard try isServed() else { return reply.send(Refusal.noSuchPath(head.path)) }
            if DashboardFiles.isFile(head.path) {
                let response = files.response(to: head.path)
                return response.map { reply.send($0) } ?? reply.send(Refusal.noSuchPath(head.path))
            }
            reply.sendPage(files.page, status: 200, policy: DashboardFiles.policy)
        }
    }

    /// Responds to a request for the address without a path: with a page for browsers, otherwise with JSON.
    func sendRoot(_ head: HTTPRequestHead, _ reply: Reply, peer: String) {
        guard head.method == "GET" else { return reply.send(Refusal.wrongMethod("GET")) }
        guard head.header("Accept")?.contains("text/html") == true else {
            return reply.send(JSONValue.object(["server": .string("yap")]))
        }
        submit(of: peer, reply) { [self] in
            let page = files.rootPage(linksDashboard: try isServed())
            reply.sendPage(page, status: 200, policy: DashboardFiles.policy)
        }
    }

    /// Handles a request of the operator API, asynchronously.
    func take(_ request: HTTPRequest, _ reply: Reply, peer: String, serverURL: String?) {
        let cancellation = ServiceCancellation()
        // Queued work for a disconnected client isn't begun.
        reply.exchange.onGiveUp { cancellation.cancel() }
        submit(of: peer, reply) { [self] in
            guard try isServed() else { return reply.send(Refusal.noSuchPath(request.head.path)) }
            try OperatorOrigin(publicURL: options.publicURL).check(request.head)
            let endpoint = try OperatorEndpoint(request.head)
            let cookie = OperatorCookie(
                isSecure: serverURL?.hasPrefix("https://") ?? false, host: request.head.header("Host"))
            guard let role = endpoint.role else {
                let note = OperatorNote("", endpoint, request.head)
                return sessions.signIn(
                    request, reply, note, peer: peer, serverURL: serverURL, cookie, cancellation)
            }
            guard let token = cookie.token(in: request.head),
                let session = try control.administratorSessions.session(token: token)
            else { return reply.send(Refusal.noOperatorSession) }
            var reply = reply
            reply.ofOperator = OperatorNote(session.administrator.name, endpoint, request.head)
            do {
                if let refusal = refusal(of: session.administrator, needing: role) {
                    try note(refusal, of: session.administrator, reply, request.head, peer: peer)
                    return reply.send(refusal)
                }
                try answer(
                    OperatorRequest(
                        http: request, endpoint: endpoint, session: session, peer: peer,
                        serverURL: serverURL, reply: reply, cancellation: cancellation,
                        namesUsersByKeys: control.namesUsersByKeys), cookie)
            } catch {
                // With the reply that includes the administrator's name.
                OperatorFailure.send(error, reply, log)
            }
        }
    }

    /// Handles the queued sign-ins and stops.
    func stop() {
        queue.stop()
        sessions.stop()
    }

    // MARK: On the handler's thread

    private func isServed() throws -> Bool {
        if isLocal || isOpen.withLock({ $0 }) { return true }
        let isOpen = try control.administrators.anyHasPassword()
        self.isOpen.withLock { $0 = isOpen }
        return isOpen
    }

    private func refusal(of administrator: Administrator, needing role: AdministratorRole) -> WireError? {
        let now = options.clock.nowMilliseconds()
        let taken = rates.withLock { $0.take(administrator.name, at: now) }
        guard taken.isTaken else { return Refusal.tooManyOfOperator(retryAfterSeconds: taken.seconds) }
        guard administrator.role >= role else { return Refusal.roleTooLow(administrator.role, role) }
        return nil
    }

    /// Writes a line about a change that the administrator's role doesn't allow.
    private func note(
        _ refusal: WireError, of administrator: Administrator, _ reply: Reply, _ head: HTTPRequestHead,
        peer: String
    ) throws {
        guard refusal.serverErrorCode == .accessDenied, let note = reply.ofOperator, note.isKept,
            refusedLines.withLock({ $0.takes(atMilliseconds: options.clock.nowMilliseconds()) })
        else { return }
        var line = AuditLine(
            administrator: administrator.name, role: administrator.role.rawValue, address: peer,
            action: .refused, outcome: .refused)
        line.requestID = head.requestID
        (line.container, line.environment, line.database) = (note.container, note.environment, note.database)
        line.note = String(note.operation.dropFirst("operator/".count))
        try audit.begin(line)
    }

    private func answer(_ request: OperatorRequest, _ cookie: OperatorCookie) throws {
        // Changes of data begin on the service's threads, and those of passwords on the thread that hashes
        // them.
        switch request.endpoint {
        case .data, .setPassword: break
        case .people(let asked) where asked.hashes: break
        default: guard request.cancellation.begin() else { return request.reply.send(Refusal.busy) }
        }
        switch request.endpoint {
        case .signIn: preconditionFailure("a sign-in has no session")
        case .showSession, .signOut, .setPassword, .listSessions, .endSession:
            try sessions.answer(request, cookie)
        case .listAdministrators, .addAdministrator, .makeLink, .setRole, .removeAdministrator:
            try administration.answer(request, serverURL: request.serverURL ?? "")
        case .audit: try kept.sendAudit(request)
        case .containers: try containers.list(request)
        case .addContainer: try containers.add(request)
        case .keys(let container, let asked): try keys.answer(request, container, asked)
        case .webhooks(let container, let asked): try webhooks.answer(request, container, asked)
        case .accounts(let container): try kept.sendAccounts(of: container, request)
        case .people(let asked): try accounts.answer(request, asked)
        case .schema(let container, let asked): try schemas.answer(request, container, asked)
        case .counts(let container, let asked): try counts.answer(request, container, asked)
        case .history(let endpoint): try happened.answer(endpoint, request)
        case .data(let container, let scope, let endpoint):
            try data.answer(request, container, scope: scope, endpoint)
        }
    }

    /// Runs blocking work on the handler's thread. An error is sent as the response.
    private func submit(of peer: String, _ reply: Reply, _ body: @escaping @Sendable () throws -> Void) {
        let isTaken = queue.submit(of: peer) { [log] in
            do {
                try body()
            } catch {
                OperatorFailure.send(error, reply, log)
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }
}

/// Converts errors to responses of the operator API.
enum OperatorFailure {
    static func send(_ error: any Error, _ reply: Reply, _ log: ServerLog?) {
        reply.send(wireError(error, reply.exchange.requestID, log))
    }

    static func wireError(_ error: any Error, _ requestID: String, _ log: ServerLog?) -> WireError {
        switch error {
        case let error as WireError: return error
        case let error as ControlError: return wireError(error)
        default:
            log?.add(event: "operator request failed", [("id", requestID), ("error", "\(error)")])
            return Refusal.cannotUseControlFile
        }
    }

    private static func wireError(_ error: ControlError) -> WireError {
        switch error {
        case .noSuchAdministrator, .noSuchContainer, .noSuchAccount:
            WireError(.notFound, reason: "\(error)", ckErrorCode: 11)
        case .administratorExists, .lastAdministrator, .tooManyAdministrators, .isBeingRemoved,
            .accountExists, .emailTaken, .tooManyDevelopers, .tokenExists, .keyExists:
            WireError(.conflict, reason: "\(error)", ckErrorCode: 14)
        default: Refusal.badRequest("\(error)")
        }
    }
}

extension Refusal {
    static let noOperatorSession = WireError(
        .authenticationRequired, reason: "sign in to the dashboard: there is no session, or it has expired",
        ckErrorCode: 9)

    static let cannotUseControlFile = WireError(
        .tryAgainLater, reason: "the server can't read or write its control file at the moment; see its log",
        retryAfterSeconds: 5, ckErrorCode: 6)

    static let tooManyLooks = WireError(
        .throttled,
        reason:
            "you have viewed the data of too many users within an hour; each view is recorded in the audit log",
        retryAfterSeconds: 600, ckErrorCode: 7)

    static let operatorSignInRefused = WireError(
        .authenticationFailed, reason: "unknown administrator or wrong password", ckErrorCode: 9)

    static let linkRefused = WireError(
        .authenticationFailed,
        reason: "the link was used, replaced, or is older than 10 minutes; make another: yap admin link NAME",
        ckErrorCode: 9)

    static func roleTooLow(_ has: AdministratorRole, _ needed: AdministratorRole) -> WireError {
        WireError(
            .accessDenied,
            reason:
                "this needs the role \(needed.rawValue), and you have \(has.rawValue); an administrator with the "
                + "role administer can change that",
            ckErrorCode: 10)
    }

    static func tooManyOfOperator(retryAfterSeconds: Int) -> WireError {
        WireError(
            .throttled, reason: "you have sent too many requests",
            retryAfterSeconds: Double(max(1, retryAfterSeconds)), ckErrorCode: 7)
    }
}
