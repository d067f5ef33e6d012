import CloudService
import CloudStore
import CloudWire
import Crypto
import HTTPServer
import System

/// The endpoints of sign-in and sessions. A password's hash is slow on purpose, so it runs on a separate
/// thread.
final class OperatorSessions: ThreadOwner {
    private let control: ControlStore
    private let options: CloudServerOptions
    private let administrators: Administrators
    private let sessions: AdministratorSessions
    private let audit: OperatorAudit
    private let check: AdministratorSignIn
    private let hashes: FairWorker
    private let refusedLines: Lock<HourlyLimit>
    private let log: ServerLog?

    /// - Throws: `CryptoError`, `CloudStoreError`.
    init(
        _ control: ControlStore, _ audit: OperatorAudit, _ options: CloudServerOptions, log: ServerLog?
    ) throws {
        self.control = control
        self.options = options
        self.log = log
        administrators = control.administrators
        sessions = control.administratorSessions
        self.audit = audit
        check = try AdministratorSignIn(control, clock: options.monotonicClock)
        hashes = FairWorker(jobsMax: options.signInsWaitingMax)
        refusedLines = Lock(HourlyLimit())
    }

    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) { try hashes.start(start) }

    func stop() { hashes.stop() }

    /// Signs an administrator in, with a name and a password or with a link, asynchronously.
    ///
    /// - Parameter note: added to the request history if the sign-in has a line in the audit log.
    func signIn(
        _ request: HTTPRequest, _ reply: Reply, _ note: OperatorNote, peer: String, serverURL: String?,
        _ cookie: OperatorCookie, _ cancellation: ServiceCancellation
    ) {
        hash(of: peer, reply, cancellation) { [self] in
            var (reply, note) = (reply, note)
            note.isKept = true
            let body = try OperatorBody(request.body)
            let client = request.head.header("User-Agent")
            let answer: AdministratorSignIn.Answer
            if let link = body.text("link") {
                answer = try check.signIn(link: link, address: peer, client: client)
            } else {
                let name = try body.required("name")
                answer = try check.signIn(
                    name: name, password: body.required("password"), address: peer,
                    isKnown: audit.hasSignedIn(name, from: peer), client: client)
            }
            switch answer {
            case .signedIn(let token, let session):
                try noteSignIn(session, peer, request.head)
                note.administrator = session.administrator.name
                reply.ofOperator = note
                send(session, serverURL, reply, cookie.header(token))
            case .refused(let administrator):
                if try noteRefusal(of: administrator, peer, request.head) {
                    note.administrator = administrator?.name ?? ""
                    reply.ofOperator = note
                }
                reply.send(
                    body.text("link") == nil ? Refusal.operatorSignInRefused : Refusal.linkRefused)
            case .wait(let seconds): reply.send(Refusal.tooManyTries(retryAfterSeconds: seconds))
            }
        }
    }

    /// Responds to a request about sessions.
    func answer(_ request: OperatorRequest, _ cookie: OperatorCookie) throws {
        switch request.endpoint {
        case .showSession: send(request.session, request.serverURL, request.reply, nil)
        case .signOut:
            try audit.logging(request.auditLine(.signOut)) { try sessions.end(request.session) }
            request.reply.send(JSONValue.object([:]), headers: [cookie.header(nil)])
        case .setPassword:
            hash(of: request.peer, request.reply, request.cancellation) { [self] in
                try setPassword(request, cookie)
            }
        case .listSessions:
            let all = request.administrator.role == .administer
            let list = try sessions.list(ofAdministrator: all ? nil : request.administrator.id)
            request.reply.send(
                JSONValue.object([
                    "sessions": .array(
                        list.map { JSONValue($0, isCurrent: $0.id == request.session.id) })
                ]))
        case .endSession: try endSession(request)
        default: preconditionFailure("no endpoint of sessions")
        }
    }

    // MARK: -

    /// Changes the administrator's password. All previous sessions end, and the request gets a new one.
    private func setPassword(_ request: OperatorRequest, _ cookie: OperatorCookie) throws {
        let body = try OperatorBody(request.http.body)
        let password = try body.required("password")
        try Administrators.checkPassword(password)
        let administrator = request.administrator
        try audit.logging(request.auditLine(.password)) {
            try checkFormer(body.text("current") ?? "", request)
            let isDone = try administrators.setPassword(PasswordHash(hashing: password), by: request.session)
            guard isDone else { throw Refusal.noOperatorSession }
        }
        guard let changed = try administrators.administrator(named: administrator.name) else {
            throw Refusal.noOperatorSession
        }
        let made = try sessions.make(
            for: changed, address: request.peer, client: request.head.header("User-Agent"))
        send(made.session, request.serverURL, request.reply, cookie.header(made.token))
    }

    /// Checks the current password, if it is needed. Attempts are counted by session, so that guesses at the
    /// sign-in don't prevent an administrator from changing the password.
    private func checkFormer(_ current: String, _ request: OperatorRequest) throws {
        guard request.administrator.passwordHash != nil, !request.session.beganWithLink else { return }
        let refusal = try check.check(
            current, of: request.administrator, counted: "session \(request.session.id)",
            address: request.peer, isKnown: false)
        switch refusal {
        case nil: break
        case .wait(let seconds)?: throw Refusal.tooManyTries(retryAfterSeconds: seconds)
        default: throw Refusal.operatorSignInRefused
        }
    }

    private func endSession(_ request: OperatorRequest) throws {
        let id = try OperatorBody(request.http.body).required("session")
        let all = request.administrator.role == .administer
        let list = try sessions.list(ofAdministrator: all ? nil : request.administrator.id)
        guard let session = list.first(where: { $0.id == id }) else {
            return request.reply.send(
                WireError(.notFound, reason: "there is no session \(id.prefix(64))", ckErrorCode: 11))
        }
        var line = request.auditLine(.sessionEnded)
        line.names = [session.administrator.name]
        line.count = 1
        try audit.logging(line) { try sessions.end(session) }
        request.reply.send(JSONValue.object([:]))
    }

    private func send(
        _ session: AdministratorSession, _ serverURL: String?, _ reply: Reply,
        _ cookie: (name: String, value: String)?
    ) {
        let message = JSONValue.members([
            "administrator": JSONValue(session.administrator), "session": .string(session.id),
            "beganWithLink": .bool(session.beganWithLink), "version": .string(options.version),
            "url": .string(serverURL ?? ""),
        ])
        reply.send(message, headers: cookie.map { [$0] } ?? [])
    }

    /// A sign-in that can't be logged is undone.
    private func noteSignIn(_ session: AdministratorSession, _ peer: String, _ head: HTTPRequestHead) throws {
        var line = AuditLine(
            administrator: session.administrator.name, role: session.administrator.role.rawValue,
            address: peer, action: .signIn, outcome: .done)
        line.requestID = head.requestID
        line.note = session.beganWithLink ? "with a link" : nil
        do {
            try audit.begin(line)
        } catch {
            try sessions.end(session)
            throw error
        }
    }

    /// Only names of existing administrators are logged, because people type passwords into name fields.
    ///
    /// - Returns: true if a line was written.
    private func noteRefusal(
        of administrator: Administrator?, _ peer: String, _ head: HTTPRequestHead
    ) throws -> Bool {
        let now = options.clock.nowMilliseconds()
        guard refusedLines.withLock({ $0.takes(atMilliseconds: now) }) else { return false }
        var line = AuditLine(
            administrator: administrator?.name ?? "", role: administrator?.role.rawValue ?? "", address: peer,
            action: .signInRefused, outcome: .refused)
        line.requestID = head.requestID
        try audit.begin(line)
        return true
    }

    /// Runs work with a password's hash, which is slow on purpose, on the thread for it. An error is sent as
    /// the response.
    func hashing(_ request: OperatorRequest, _ body: @escaping @Sendable () throws -> Void) {
        hash(of: request.peer, request.reply, request.cancellation, body)
    }

    private func hash(
        of peer: String, _ reply: Reply, _ cancellation: ServiceCancellation,
        _ body: @escaping @Sendable () throws -> Void
    ) {
        let isTaken = hashes.submit(of: peer) { [log] in
            guard cancellation.begin() else { return reply.send(Refusal.busy) }
            do {
                try body()
            } catch {
                OperatorFailure.send(error, reply, log)
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }
}
