import CloudStore
import CloudWire
import Crypto
import System

/// The identity of a request's caller, as far as it is established. Also filled in when the request is rejected.
struct RequestAuthentication {
    var user: ServiceUser?
    var isServerKey = false
    /// The hash of the signed text, for a change.
    var signedChange: [UInt8]?
    var additions = AnswerAdditions()
}

/// Additions to a response by authentication.
struct AnswerAdditions: Sendable {
    var headers: [(name: String, value: String)] = []
    /// True if the page may not read the response.
    var refusesOrigin = false
}

extension WireRequest {
    /// True for a browser's preflight request. Only the app is checked.
    var isPreflight: Bool { method == "OPTIONS" }

    /// True if the request has the headers of a server key's signature.
    fileprivate var isSigned: Bool {
        header(WireHeader.keyID) != nil || header(WireHeader.signature) != nil
    }
}

/// Authenticates requests. The set of recent signed changes is in memory. The store has them too.
final class Authentication: Sendable {
    private let accounts: any ServiceAccounts
    private let clock: any TimeSource
    /// The service's public address, or nil to use that of the request.
    private let publicURL: String?
    private let rates: CallerRates
    private let serverSignatures = Lock(ServerSignatures())

    init(
        accounts: any ServiceAccounts, clock: any TimeSource, publicURL: String?, rates: CallerRates
    ) {
        (self.accounts, self.clock, self.publicURL, self.rates) = (accounts, clock, publicURL, rates)
    }

    /// Authenticates a request, and rejects it if its caller may not use the route. Endpoints check other permissions.
    func admit(_ request: WireRequest, to route: ServiceRoute, _ authentication: inout RequestAuthentication)
        throws
    {
        do {
            try identify(request, to: route, &authentication)
        } catch {
            // An unauthenticated request counts as anonymous.
            try rates.charge(request, &authentication)
            throw error
        }
        try rates.charge(request, &authentication)
        guard !request.isPreflight else { return }
        if !authentication.isServerKey {
            try checkEnvironment(authentication.user?.userRecordName, in: CloudService.Container(route))
        }
        try checkRow(of: route, authentication)
    }

    private func identify(
        _ request: WireRequest, to route: ServiceRoute, _ authentication: inout RequestAuthentication
    ) throws {
        if request.isSigned {
            let (key, change) = try checkSignature(of: request, to: route)
            authentication.isServerKey = true
            authentication.signedChange = change
            authentication.user = ServiceUser(userRecordName: key.userRecordName)
        } else {
            try checkApp(of: request, to: route, &authentication)
            guard !request.isPreflight, let token = request.queryItem(WireHeader.webAuthTokenItem) else {
                return
            }
            try checkUser(token, in: CloudService.Container(route), &authentication)
        }
    }

    /// Rejects callers that may not use the environment, at every endpoint.
    func checkEnvironment(_ userRecordName: String?, in container: CloudService.Container) throws {
        guard try !accounts.admits(userRecordName: userRecordName, container: container) else { return }
        throw userRecordName == nil ? ServiceError.developersSignIn : WireError.developersOnly
    }

    private func checkUser(
        _ token: String, in container: CloudService.Container, _ authentication: inout RequestAuthentication
    ) throws {
        switch try accounts.signIn(webAuthToken: token, container: container) {
        case .user(let user, let replacement):
            authentication.user = user
            if let replacement {
                authentication.additions.headers.append((WireHeader.newWebAuthToken, replacement))
            }
        case .ended: throw ServiceError.authenticationRequired
        case .unknown: throw ServiceError.authenticationFailed
        }
    }

    /// Adds the address of the sign-in page to an error that requires a sign-in.
    func withSignIn(
        _ error: WireError, for request: WireRequest, in container: CloudService.Container?
    ) -> WireError {
        guard error.serverErrorCode == .authenticationRequired, error.redirectURL == nil, let container,
            let target = try? accounts.signInTarget(
                apiToken: request.queryItem(WireHeader.apiTokenItem),
                origin: request.header(WireHeader.origin), container: container),
            let base = publicURL ?? request.serverURL
        else { return error }
        var error = error
        error.redirectURL = base + target
        return error
    }

    private func checkApp(
        of request: WireRequest, to route: ServiceRoute, _ authentication: inout RequestAuthentication
    ) throws {
        let apiToken = request.queryItem(WireHeader.apiTokenItem)
        guard let app = try accounts.app(apiToken: apiToken, container: CloudService.Container(route)) else {
            throw WireError.apiTokenRefused(isMissing: apiToken == nil, route.container)
        }
        if let environment = app.environment, environment != route.environment {
            throw WireError.tokenOfOtherEnvironment(environment)
        }
        guard app.admits(origin: request.header(WireHeader.origin)) else {
            authentication.additions.refusesOrigin = true
            throw ServiceError.originRefused
        }
    }

    /// Checks that the endpoint's row allows this kind of caller.
    private func checkRow(of route: ServiceRoute, _ authentication: RequestAuthentication) throws {
        let callers = route.row.callers(in: route.scope)
        if authentication.isServerKey {
            guard callers.contains(.serverKey) else { throw ServiceError.noServerKeyHere }
        } else if authentication.user == nil {
            guard callers.contains(.nobody) else { throw ServiceError.authenticationRequired }
        }
    }

    /// Returns the key that signed the request, and for a change the hash of the signed text.
    ///
    /// An unknown key, a revoked key and a wrong signature get the same error after the same amount of work.
    private func checkSignature(
        of request: WireRequest, to route: ServiceRoute
    ) throws -> (key: ServiceServerKey, change: [UInt8]?) {
        guard request.queryItem(WireHeader.apiTokenItem) == nil,
            request.queryItem(WireHeader.webAuthTokenItem) == nil
        else { throw ServiceError.signedAndWithToken }
        guard let keyID = request.header(WireHeader.keyID), let target = request.rawTarget,
            let signed = SignedRequest(
                date: request.header(WireHeader.signedDate) ?? "",
                signature: request.header(WireHeader.signature) ?? "")
        else { throw ServiceError.signatureUnreadable }
        let now = clock.nowMilliseconds()
        guard abs(signed.milliseconds - now) <= SignedRequest.windowMilliseconds else {
            throw ServiceError.signatureTooOld
        }
        let key = try accounts.serverKey(keyID, container: CloudService.Container(route))
        let path = SignedRequest.path(ofTarget: target)
        for message in try signed.messages(target: path, body: request.body) {
            let publicKey = try key?.publicKey ?? ServerSignatures.decoy()
            guard try publicKey.verifies(signature: signed.signature, of: message), let key else { continue }
            guard route.endpoint.isChange else { return (key, nil) }
            let digest = try SHA256.hash(Array("\(keyID)\n".utf8) + message)
            try serverSignatures.withLock {
                try $0.take(digest, until: signed.milliseconds + SignedRequest.windowMilliseconds, at: now)
            }
            return (key, digest)
        }
        throw ServiceError.authenticationFailed
    }

    /// Makes sure that a signed change is executed once, even after a restart: the execution is recorded in
    /// its own transaction, with the kept answers and for as long as they are kept. A record in memory would
    /// be lost.
    func once(signed change: [UInt8]?, _ work: ServiceWork) -> ServiceWork {
        guard let change, case .write(let body) = work else { return work }
        let key = OperationKey(
            database: .publicDatabase, user: "", operationID: "signed \(SignedRequest.base64(change))")
        return .write { writer in
            var wanted = StoreLoad()
            wanted.answers = [key]
            guard try writer.load(wanted).answers[key] == nil else { throw ServiceError.signedTwice }
            let answer = try body(writer)
            var changes = StoreChanges()
            changes.answers = [
                KeptAnswerRow(
                    key: key, requestHash: change, atMilliseconds: self.clock.nowMilliseconds(), answer: [])
            ]
            try writer.apply(changes)
            return answer
        }
    }
}

extension WireError {
    /// Returns the error for an API token that is missing or doesn't belong to the container. The same error is
    /// returned for a missing container.
    package static func apiTokenRefused(isMissing: Bool, _ container: String) -> WireError {
        let what =
            isMissing
            ? "No API token (ckAPIToken) was sent"
            : "The server doesn't know this API token (ckAPIToken) for \(container)"
        return WireError(
            .authenticationFailed,
            reason: "\(what): check CLOUDKIT_API_TOKEN; on the server, `yap token list` shows the tokens",
            ckErrorCode: 8)
    }

    /// Returns the error for an API token of another environment, which it names.
    package static func tokenOfOtherEnvironment(_ environment: String) -> WireError {
        WireError(
            .authenticationFailed,
            reason:
                "The API token (ckAPIToken) is for \(environment) only: use that environment, or have the "
                + "operator make a token for this one",
            ckErrorCode: 8)
    }

    /// The error for an account that may not use the environment.
    package static let developersOnly = WireError(
        .accessDenied,
        reason:
            "development is for developers only: use production, or have the operator make this account a developer",
        ckErrorCode: 10)
}

extension ServiceError {
    static let developersSignIn = WireError(
        .authenticationRequired, reason: "development is for developers only: sign in as one", ckErrorCode: 9)

    static let originRefused = WireError(
        .authenticationFailed, reason: "The API token (ckAPIToken) is not for pages of this origin",
        ckErrorCode: 8)

    static let noServerKeyHere = WireError(
        .authenticationFailed, reason: "a server-to-server key is for the public database's records only",
        ckErrorCode: 9)
}
