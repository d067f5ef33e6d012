import CloudService
import CloudStore
import CloudWire
import Crypto
public import System

/// Checks passwords of the accounts in a control file, and makes tokens.
///
/// An unknown account takes as long as a wrong password. Each failed attempt makes the next one wait longer, for the
/// account and for the address, also after a restart.
public final class SignInCheck: SignInChecker {
    private let control: ControlStore
    private let tries: Lock<AttemptLimiter>
    private let isDevelopmentForEveryone: Bool
    private let clock: any MonotonicSource
    /// A hash with the cost of a real one that matches no password.
    private let nobody: PasswordHash

    /// Makes a checker.
    ///
    /// - Parameters:
    ///   - isDevelopmentForEveryone: true if all accounts may use `development`, not only developers.
    ///   - clock: the clock of the delays.
    /// - Throws: `CryptoError` if the system provides no randomness; `CloudStoreError` if the control file
    ///   can't be read.
    public init(
        _ control: ControlStore, isDevelopmentForEveryone: Bool,
        clock: any MonotonicSource = SystemMonotonicSource()
    ) throws {
        self.control = control
        self.isDevelopmentForEveryone = isDevelopmentForEveryone
        self.clock = clock
        // If a digest fails for lack of memory, all are counted together.
        tries = Lock(
            AttemptLimiter(
                digest: { (try? control.signInTries.digest(of: $0)) ?? [] },
                kept: try control.signInTries.list(),
                at: clock.elapsedMilliseconds()))
        nobody = try PasswordHash.fittingNothing()
    }

    /// Checks the password, which is slow on purpose, and makes a token.
    public func signIn(_ request: SignInRequest, peer: String, client: String? = nil) -> SignInAnswer {
        do {
            return try answer(to: request, from: Self.place(peer, client))
        } catch {
            return .failed(reason: "\(error)")
        }
    }

    /// Returns the page for a ticket.
    public func page(ticket: String) throws -> SignInPage? {
        try control.signInTickets.page(ticket: ticket).map { SignInPage($0) }
    }

    /// Returns true if this server issued the ticket, and it hasn't expired.
    public func isTicket(_ text: String) throws -> Bool {
        try control.signInTickets.isValid(text)
    }

    /// Returns an authentication code of this server.
    public func formCode(ticket: String, nonce: String) throws -> String {
        try control.signInTickets.formCode(ticket: ticket, nonce: nonce)
    }

    /// Checks the password as the other sign-in does, and issues a token that each response replaces.
    public func signIn(_ form: SignInForm, peer: String, client: String? = nil) -> SignInAnswer {
        do {
            let request = SignInRequest(
                account: form.account, password: form.password, container: form.page.container,
                environment: form.page.environment)
            return try check(
                request, from: Self.place(peer, client),
                lifeMilliseconds: form.staysSignedIn
                    ? SignInPage.longLifeMilliseconds : SignInPage.lifeMilliseconds)
        } catch {
            return .failed(reason: "\(error)")
        }
    }

    /// Returns the session of the token.
    public func session(webAuthToken: String) throws -> SignInSession? {
        try control.sessions.find(token: webAuthToken).map { session in
            SignInSession(
                container: CloudService.Container(
                    identifier: session.container, environment: session.environment),
                userRecordName: session.userRecordName)
        }
    }

    /// Ends the session.
    public func signOut(webAuthToken: String) throws -> Bool {
        try control.sessions.end(token: webAuthToken)
    }

    /// Returns the account's sessions in the token's container. Sessions in other containers are not visible there.
    public func sessions(webAuthToken: String) throws -> OwnSessions? {
        guard case .user(let current, let replacement) = try control.sessions.signIn(token: webAuthToken)
        else {
            return nil
        }
        let sessions = try control.sessions.list(account: current.account)
            .filter { $0.container == current.container }
        return OwnSessions(sessions: sessions, current: current.id, replacement: replacement)
    }

    private static func place(_ peer: String, _ client: String?) -> ControlSignInPlace {
        ControlSignInPlace(network: AttemptLimiter.key(address: peer), address: peer, client: client)
    }

    private func answer(to request: SignInRequest, from place: ControlSignInPlace) throws -> SignInAnswer {
        // Checking a password is expensive, so a request without the app's token is rejected first.
        let container = CloudService.Container(
            identifier: request.container, environment: request.environment)
        guard ["development", "production"].contains(request.environment) else {
            return .denied(Refusal.noSuchContainer(container))
        }
        guard let apiToken = request.apiToken, let app = try control.tokens.app(apiToken: apiToken),
            app.container == request.container
        else {
            // Other requests reveal both anyway.
            guard try control.containers.exists(request.container) else {
                return .denied(Refusal.noSuchContainer(container))
            }
            return .denied(.apiTokenRefused(isMissing: request.apiToken == nil, request.container))
        }
        guard app.environments.contains(request.environment) else {
            return .denied(.tokenOfOtherEnvironment(app.environments.rawValue))
        }
        return try check(request, from: place, lifeMilliseconds: nil)
    }

    private func check(
        _ request: SignInRequest, from place: ControlSignInPlace, lifeMilliseconds: Int64?
    ) throws -> SignInAnswer {
        let now = clock.elapsedMilliseconds()
        let peer = place.address
        let isKnown = try control.signInPlaces.hasSignedIn(account: request.account, from: place.network)
        let wait = tries.withLock {
            $0.begin(account: request.account, address: peer, isKnown: isKnown, at: now)
        }
        if let wait { return .tooManyTries(retryAfterSeconds: wait) }
        let account = try control.accounts.find(named: request.account)
        let hash = try account.map { try PasswordHash(stored: $0.passwordHash) } ?? nobody
        guard try hash.matches(request.password), let account, !account.isDisabled else {
            // Stored, so that a restart doesn't reset the count.
            try control.signInTries.save(
                tries.withLock {
                    $0.failed(account: request.account, address: peer, isKnown: isKnown, at: now)
                })
            return .refused
        }
        let forgotten = tries.withLock {
            $0.succeeded(account: request.account, address: peer, isKnown: isKnown, at: now)
        }
        if let forgotten { try control.signInTries.save([forgotten]) }
        guard isDevelopmentForEveryone || account.isDeveloper || request.environment != "development" else {
            return .denied(.developersOnly)
        }
        let made: (token: String, session: ControlSession, history: ControlSignInHistory)
        do {
            made = try control.sessions.make(
                of: account, container: request.container, environment: request.environment,
                lifeMilliseconds: lifeMilliseconds, from: place)
        } catch ControlError.noSuchAccount {
            return .refused
        } catch is ControlError {
            return .denied(
                Refusal.removed(
                    CloudService.Container(identifier: request.container, environment: request.environment)))
        }
        return .signedIn(
            webAuthToken: made.token, userRecordName: made.session.userRecordName,
            expiresAtMilliseconds: lifeMilliseconds == nil
                ? control.sessions.lastEndMilliseconds(of: made.session) : made.session.expiresMilliseconds,
            news: SignInNews(made.session, made.history))
    }
}
