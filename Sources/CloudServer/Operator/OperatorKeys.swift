import CloudStore
import CloudWire
import Crypto
import HTTPServer

/// The endpoints of a container's API tokens and server-to-server keys.
struct OperatorKeys: Sendable {
    enum Request: Hashable {
        case listTokens, addToken, changeToken, revokeToken
        case listKeys, addKey, revokeKey

        var role: AdministratorRole { self == .listTokens || self == .listKeys ? .look : .administer }
    }

    /// Maximum number of tokens, and of keys, that the dashboard creates for a container. The lists show all
    /// of them.
    static let countMax = 1_000

    private let control: ControlStore
    private let audit: OperatorAudit

    init(_ control: ControlStore, _ audit: OperatorAudit) {
        self.control = control
        self.audit = audit
    }

    /// Responds to a request about the tokens and keys of a container.
    func answer(_ request: OperatorRequest, _ container: String, _ asked: Request) throws {
        guard try control.containers.exists(container) else { throw ControlError.noSuchContainer(container) }
        request.reply.send(try answer(asked, container, request))
    }

    private func answer(
        _ asked: Request, _ container: String, _ request: OperatorRequest
    ) throws -> JSONValue {
        if asked == .listTokens {
            let tokens = try control.tokens.list(container: container).map { JSONValue($0) }
            return .object(["tokens": .array(tokens)])
        }
        if asked == .listKeys {
            let keys = try control.serverKeys.list(container: container).map { JSONValue($0) }
            return .object(["keys": .array(keys)])
        }
        let body = try OperatorBody(request.http.body)
        let change = Change(
            request: request, container: container, name: try body.required("name"), body: body)
        switch asked {
        case .addToken: return try addToken(change)
        case .changeToken: return try changeToken(change)
        case .revokeToken: return try revokeToken(change)
        case .addKey: return try addKey(change)
        case .revokeKey: return try revokeKey(change)
        case .listTokens, .listKeys: preconditionFailure("no change")
        }
    }

    /// A change of a token or a key.
    private struct Change {
        let request: OperatorRequest
        let container: String
        let name: String
        let body: OperatorBody

        func line(_ action: AuditLine.Action, environment: String? = nil) -> AuditLine {
            var line = request.auditLine(action)
            line.container = container
            line.environment = environment
            line.names = [name]
            line.count = 1
            return line
        }
    }

    // MARK: Tokens

    private func addToken(_ change: Change) throws -> JSONValue {
        let body = change.body
        let environments = try Self.environments(body)
        let origins = try body.texts("origins") ?? []
        return try audit.logging(change.line(.tokenMade), note: environments.rawValue) {
            guard try control.tokens.list(container: change.container).count < Self.countMax else {
                throw Refusal.conflict("\(change.container) has \(Self.countMax) tokens; revoke one first")
            }
            let token = try control.tokens.make(
                container: change.container, name: change.name, environments: environments,
                origins: origins, callback: body.nonempty("callback"), notes: body.nonempty("notes"),
                makesContainer: false)
            return .object(["token": .string(token), "entry": try entry(change)])
        }
    }

    private func changeToken(_ change: Change) throws -> JSONValue {
        let environments = try Self.environments(change.body)
        return try audit.logging(change.line(.tokenChanged), note: environments.rawValue) {
            guard
                try control.tokens.setEnvironments(
                    environments, ofToken: change.name, container: change.container)
            else { throw Refusal.noSuch("token", change.name) }
            return .object(["entry": try entry(change)])
        }
    }

    private func revokeToken(_ change: Change) throws -> JSONValue {
        try audit.logging(change.line(.tokenRevoked)) {
            guard try control.tokens.revoke(container: change.container, name: change.name) else {
                throw Refusal.noSuch("token", change.name)
            }
            return .object([:])
        }
    }

    private func entry(_ change: Change) throws -> JSONValue {
        let tokens = try control.tokens.list(container: change.container)
        guard let token = tokens.first(where: { $0.name == change.name }) else {
            throw Refusal.noSuch("token", change.name)
        }
        return JSONValue(token)
    }

    private static func environments(_ body: OperatorBody) throws -> TokenEnvironments {
        guard let environments = TokenEnvironments(rawValue: try body.required("environment")) else {
            throw Refusal.badRequest("environment is development, production or both")
        }
        return environments
    }

    // MARK: Keys

    private func addKey(_ change: Change) throws -> JSONValue {
        let environment = try change.body.environment()
        let pem = try change.body.required("publicKey")
        return try audit.logging(change.line(.keyAdded, environment: environment)) {
            guard let publicKey = try? P256PublicKey(pem: pem) else { throw ControlError.badKey }
            guard try control.serverKeys.list(container: change.container).count < Self.countMax else {
                throw Refusal.conflict("\(change.container) has \(Self.countMax) keys; revoke one first")
            }
            let key = try control.serverKeys.add(
                container: change.container, environment: environment, name: change.name,
                publicKey: publicKey.der, makesContainer: false)
            return .object(["key": JSONValue(key)])
        }
    }

    private func revokeKey(_ change: Change) throws -> JSONValue {
        let environment = try change.body.environment()
        return try audit.logging(change.line(.keyRevoked, environment: environment)) {
            let isRevoked = try control.serverKeys.revoke(
                container: change.container, environment: environment, name: change.name)
            guard isRevoked else { throw Refusal.noSuch("key", change.name) }
            return .object([:])
        }
    }
}

extension JSONValue {
    /// A token without its secret.
    fileprivate init(_ token: ControlToken) {
        self = .members([
            "name": .string(token.name), "environment": .string(token.environments.rawValue),
            "origins": .array(token.origins.map { .string($0) }), "callback": .text(token.callback),
            "notes": .text(token.notes), "createdMilliseconds": .integer(token.createdMilliseconds),
        ])
    }

    fileprivate init(_ key: ControlServerKey) {
        self = .members([
            "environment": .string(key.environment), "name": .string(key.name), "keyID": .string(key.id),
            "createdMilliseconds": .integer(key.createdMilliseconds),
        ])
    }
}

extension Refusal {
    static func conflict(_ reason: String) -> WireError {
        WireError(.conflict, reason: reason, ckErrorCode: 14)
    }

    /// - Parameter what: the kind of the named object, such as "token".
    static func noSuch(_ what: String, _ name: String) -> WireError {
        WireError(.notFound, reason: "there is no \(what) \(name.prefix(100))", ckErrorCode: 11)
    }
}
