import CloudService
import CloudStore
import CloudWire
import Crypto
import HTTPServer

/// The endpoints of app accounts.
struct OperatorAccounts: Sendable {
    enum Request: Hashable {
        case list, show(name: String)
        case add, change, setPassword, disable, enable, delete, endSessions

        var role: AdministratorRole {
            switch self {
            case .list, .show: .look
            default: .administer
            }
        }

        /// True if it hashes a password, which runs on a separate thread.
        var hashes: Bool { self == .add || self == .setPassword }
    }

    /// Maximum number of sessions in a response.
    static let sessionsMax = 100

    private let control: ControlStore
    private let audit: OperatorAudit
    private let stores: OperatorStores
    private let sweep: OperatorSweep
    private let sessions: OperatorSessions

    /// - Parameter sessions: has the thread that hashes passwords.
    init(
        _ control: ControlStore, _ audit: OperatorAudit, _ stores: OperatorStores, _ sweep: OperatorSweep,
        _ sessions: OperatorSessions
    ) {
        self.control = control
        self.audit = audit
        self.stores = stores
        self.sweep = sweep
        self.sessions = sessions
    }

    /// Responds to a request about accounts.
    func answer(_ request: OperatorRequest, _ asked: Request) throws {
        switch asked {
        case .list: try list(request)
        case .show(let name): try show(name, request)
        case .add: sessions.hashing(request) { try add(request) }
        case .setPassword: sessions.hashing(request) { try setPassword(request) }
        case .change: try change(request)
        case .disable: try disable(request)
        case .enable:
            try send(request, .accountEnabled) { name in
                try control.accounts.enable(named: name)
                return .object(["account": try json(named: name)])
            }
        case .delete: try delete(request)
        case .endSessions: try endSessions(request)
        }
    }

    // MARK: Reading

    private func list(_ request: OperatorRequest) throws {
        let page = try control.accounts.page(request.head)
        request.reply.send(
            JSONValue.object([
                "accounts": .array(try page.accounts.map { try json($0) }),
                "after": page.after.map { .string($0) } ?? .null,
            ]))
    }

    private func show(_ name: String, _ request: OperatorRequest) throws {
        guard let account = try control.accounts.find(named: name) else {
            throw ControlError.noSuchAccount(name: String(name.prefix(100)))
        }
        let containers = try control.containers.list().map { container in
            JSONValue.object([
                "identifier": .string(container.identifier),
                "userRecordName": .string(
                    try control.accounts.userRecordName(of: account, container: container.identifier)),
            ])
        }
        let sessions = try control.sessions.list(account: account.name)
        request.reply.send(
            JSONValue.object([
                "account": try json(account), "containers": .array(containers),
                "sessions": .array(sessions.suffix(Self.sessionsMax).reversed().map { JSONValue($0) }),
                "sessionsAreCapped": .bool(sessions.count > Self.sessionsMax),
            ]))
    }

    private func json(_ account: ControlAccount) throws -> JSONValue {
        .members([
            "name": .string(account.name), "givenName": .text(account.givenName),
            "familyName": .text(account.familyName), "email": .text(account.email),
            "isDeveloper": .bool(account.isDeveloper), "isDisabled": .bool(account.isDisabled),
            "createdMilliseconds": .integer(account.createdMilliseconds),
            "sessionsCount": .count(try control.sessions.count(of: account)),
        ])
    }

    private func json(named name: String) throws -> JSONValue { try json(account(name)) }

    private func account(_ name: String) throws -> ControlAccount {
        guard let account = try control.accounts.find(named: name) else {
            throw ControlError.noSuchAccount(name: name)
        }
        return account
    }

    // MARK: Changing, in the control file alone

    private func add(_ request: OperatorRequest) throws {
        let body = try OperatorBody(request.http.body)
        let name = try body.required("name")
        let password = try Password(body)
        try send(request, .accountMade) { _ in
            // Before the expensive hash.
            guard try control.accounts.find(named: name) == nil else {
                throw ControlError.accountExists(name: name)
            }
            let account = try control.accounts.add(
                name: name, givenName: body.nonempty("givenName"), familyName: body.nonempty("familyName"),
                email: body.nonempty("email"), passwordHash: password.hash(),
                isDeveloper: body.flag("isDeveloper") ?? false)
            return .members(["account": try json(account), "password": .text(password.madeUp)])
        }
    }

    private func setPassword(_ request: OperatorRequest) throws {
        let body = try OperatorBody(request.http.body)
        let password = try Password(body)
        // Before the expensive hash.
        _ = try account(body.required("name"))
        let hash = try password.hash()
        try sweeping(request, .accountPassword) { name in
            try control.accounts.setPasswordHash(hash, ofAccount: name)
            return .members(["password": .text(password.madeUp)])
        }
    }

    private func change(_ request: OperatorRequest) throws {
        let body = try OperatorBody(request.http.body)
        let isDeveloper = try body.flag("isDeveloper")
        try send(request, .accountChanged) { name in
            // First the change that may be rejected.
            try control.accounts.changePerson(
                ofAccount: name, givenName: body.optional("givenName"),
                familyName: body.optional("familyName"), email: body.optional("email"))
            if let isDeveloper { try control.accounts.setDeveloper(isDeveloper, ofAccount: name) }
            return .object(["account": try json(named: name)])
        }
    }

    private func disable(_ request: OperatorRequest) throws {
        try sweeping(request, .accountDisabled) { name in
            try control.accounts.disable(named: name)
            return .object(["account": try json(named: name)])
        }
    }

    private func endSessions(_ request: OperatorRequest) throws {
        let session = try OperatorBody(request.http.body).nonempty("session")
        try sweeping(request, .accountSessionEnded) { name in
            guard let session else {
                return .object(["endedCount": .count(try control.sessions.endAll(ofAccount: name))])
            }
            guard try control.sessions.end(id: session, ofAccount: account(name).name) else {
                throw Refusal.noSuch("session", session)
            }
            return .object(["endedCount": .count(1)])
        }
    }

    /// Responds with the result of a change in the control file.
    private func send(
        _ request: OperatorRequest, _ action: AuditLine.Action, _ body: (_ name: String) throws -> JSONValue
    ) throws {
        let line = try line(request, action)
        request.reply.send(try audit.logging(line) { try body(line.names[0]) })
    }

    // MARK: Changing, and what the account has in the stores

    /// Responds with the result of a change in the control file, after the push tokens of the account's
    /// devices were deleted, since these are valid without a session.
    private func sweeping(
        _ request: OperatorRequest, _ action: AuditLine.Action,
        _ body: @escaping @Sendable (_ name: String) throws -> JSONValue
    ) throws {
        let line = try line(request, action)
        try stores.take(request, in: nil, line) { completion in
            let json = try body(line.names[0])
            try sweep.run(.forgetDevices, of: account(line.names[0])) { result in
                // The change is done, and its secret must be shown.
                var answer = OperatorAnswer(json: json)
                if case .failure(let error) = result {
                    answer.note = "devices keep their tokens: \(error.serverErrorCode.rawValue)"
                }
                completion(.success(answer))
            }
        }
    }

    private func delete(_ request: OperatorRequest) throws {
        let erases = try OperatorBody(request.http.body).flag("erase") ?? false
        let line = try line(request, .accountDeleted)
        try stores.take(request, in: nil, line) { completion in
            let account = try account(line.names[0])
            // First, so that nothing is written after the deletion has passed. The account stays disabled if
            // a later step fails.
            try control.accounts.disable(named: account.name)
            try sweep.run(erases ? .erase : .forgetDevices, of: account) { result in
                completion(Result { () throws(WireError) in try removed(account, try result.get()) })
            }
        }
    }

    /// Removes an account whose data was deleted. Runs on a thread that may block.
    private func removed(_ account: ControlAccount, _ count: Int64) throws(WireError) -> OperatorAnswer {
        do {
            try control.accounts.remove(named: account.name)
        } catch {
            throw Refusal.cannotUseControlFile
        }
        return OperatorAnswer(
            json: .object(["erasedCount": .integer(count)]),
            note: count == 0 ? nil : "erased \(count) records")
    }

    private func line(_ request: OperatorRequest, _ action: AuditLine.Action) throws -> AuditLine {
        var line = request.auditLine(action)
        line.names = [try OperatorBody(request.http.body).required("name")]
        line.count = 1
        return line
    }
}

/// A password that an administrator sets for an account, or lets the server generate.
private struct Password {
    private let text: String
    /// The generated password, or nil if one was given.
    let madeUp: String?

    init(_ body: OperatorBody) throws {
        let given = try body.nonempty("password")
        madeUp = given == nil ? try MadeUpPassword.make() : nil
        text = given ?? madeUp ?? ""
        guard text.count >= AccountTables.passwordCharactersMin,
            text.utf8.count <= PasswordHash.passwordBytesMax
        else {
            throw ControlError.badPassword(
                rule: "Use \(AccountTables.passwordCharactersMin) characters at least, and "
                    + "\(PasswordHash.passwordBytesMax) bytes at most."
            )
        }
    }

    func hash() throws -> String { try PasswordHash(hashing: text).text }
}

extension JSONValue {
    /// A session of an account.
    fileprivate init(_ session: ControlSession) {
        self = .members([
            "session": .string(session.id), "container": .string(session.container),
            "environment": .string(session.environment),
            "createdMilliseconds": .integer(session.createdMilliseconds),
            "expiresMilliseconds": .integer(session.expiresMilliseconds), "address": .text(session.address),
            "client": .text(session.client),
        ])
    }
}
