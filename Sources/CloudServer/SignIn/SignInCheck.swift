public import CloudStore
public import CloudWire
import Crypto
public import Seams

/// Signs in to the accounts of a control file: a password for a token.
///
/// An unknown account takes as long as a wrong password. Tries that fail make the next one wait, for the account and
/// for the address, longer each time.
public final class SignInCheck: SignInChecker {
    private let control: ControlStore
    private let tries: Lock<TryLimiter>
    private let clock: any MonotonicSource
    /// Costs as much to check as a real one, and fits no password.
    private let nobody: PasswordHash

    /// Makes a checker.
    ///
    /// - Parameter clock: measures how long a caller has to wait.
    /// - Throws: `CryptoError` when the system gives no randomness.
    public init(_ control: ControlStore, clock: any MonotonicSource = SystemMonotonicSource()) throws {
        self.control = control
        self.clock = clock
        tries = Lock(TryLimiter())
        nobody = try PasswordHash.fittingNothing()
    }

    /// Checks the password, which takes as long as its hash costs, and makes a token.
    public func signIn(_ request: SignInRequest, peer: String) -> SignInAnswer {
        do {
            return try answer(to: request, peer: peer)
        } catch {
            return .failed(reason: "\(error)")
        }
    }

    /// What the page is for, as its address says.
    public func page(ticket: String) throws -> SignInPage? {
        try control.signInPage(ticket: ticket).flatMap { SignInPage($0) }
    }

    /// A code that only this server can make.
    public func formCode(ticket: String, nonce: String) throws -> String {
        try control.signInFormCode(ticket: ticket, nonce: nonce)
    }

    /// Checks the password as the other sign-in does, and makes a token that each answer replaces.
    public func signIn(_ form: SignInForm, peer: String) -> SignInAnswer {
        do {
            let request = SignInRequest(
                account: form.account, password: form.password, container: form.page.container,
                environment: form.page.environment)
            return try check(
                request, peer: peer,
                lifeMilliseconds: form.staysSignedIn
                    ? SignInPage.longLifeMilliseconds : SignInPage.lifeMilliseconds)
        } catch {
            return .failed(reason: "\(error)")
        }
    }

    /// Ends the session.
    public func signOut(webAuthToken: String) throws -> Bool {
        try control.endSession(token: webAuthToken)
    }

    private func answer(to request: SignInRequest, peer: String) throws -> SignInAnswer {
        // Without a token of the app nobody gets as far as a password, whose check is what costs.
        guard ["development", "production"].contains(request.environment), let apiToken = request.apiToken,
            try control.admits(apiToken: apiToken, container: request.container)
        else { return .refused }
        return try check(request, peer: peer, lifeMilliseconds: nil)
    }

    private func check(
        _ request: SignInRequest, peer: String, lifeMilliseconds: Int64?
    ) throws -> SignInAnswer {
        let now = clock.elapsedMilliseconds()
        let wait = tries.withLock { $0.begin(account: request.account, address: peer, at: now) }
        if let wait { return .tooManyTries(retryAfterSeconds: wait) }
        let account = try control.account(named: request.account)
        let hash = try account.map { try PasswordHash(stored: $0.passwordHash) } ?? nobody
        guard try hash.matches(request.password), let account else { return .refused }
        tries.withLock { $0.succeeded(account: request.account, address: peer, at: now) }
        let made = try control.makeSession(
            of: account, container: request.container, environment: request.environment,
            lifeMilliseconds: lifeMilliseconds)
        return .signedIn(
            webAuthToken: made.token, userRecordName: made.session.userRecordName,
            expiresAtMilliseconds: made.session.expiresMilliseconds)
    }
}
