public import CloudService
import CloudStore
import CloudWire

/// Checks an account's password and issues a token. It blocks, because a password's hash is slow, and is
/// called on the server's thread for sign-ins, never on an event loop.
public protocol SignInChecker: Sendable {
    /// Handles a sign-in. `peer` is the client's address, for limits on attempts, and `client` its
    /// `User-Agent`.
    func signIn(_ request: SignInRequest, peer: String, client: String?) -> SignInAnswer

    /// Returns true if a text is an unexpired ticket. Called on an event loop, so it must not read files.
    func isTicket(_ text: String) throws -> Bool

    /// Returns the sign-in page for this ticket, or nil if the ticket is invalid or expired.
    func page(ticket: String) throws -> SignInPage?

    /// Returns the code of the page's form in the browser that holds `nonce`.
    func formCode(ticket: String, nonce: String) throws -> String

    /// Handles a submitted form of the page.
    func signIn(_ form: SignInForm, peer: String, client: String?) -> SignInAnswer

    /// Returns the user and the environment of the token's session, or nil if there is no session.
    func session(webAuthToken: String) throws -> SignInSession?

    /// Ends the session of a token. Returns false if there was none.
    func signOut(webAuthToken: String) throws -> Bool

    /// Returns the sessions of the token's account in its container, and the token that replaces this one. Nil if
    /// there is no such session.
    func sessions(webAuthToken: String) throws -> OwnSessions?
}

extension SignInChecker {
    /// Returns true, because `page` checks it.
    public func isTicket(_ text: String) throws -> Bool { true }

    /// Returns nil: there is no page.
    public func page(ticket: String) throws -> SignInPage? { nil }

    /// Does nothing: there is no page.
    public func formCode(ticket: String, nonce: String) throws -> String { "" }

    /// Returns `.refused`: there is no page.
    public func signIn(_ form: SignInForm, peer: String, client: String?) -> SignInAnswer { .refused }

    /// Returns nil: sessions can't be ended here.
    public func session(webAuthToken: String) throws -> SignInSession? { nil }

    /// Returns nil: there are none.
    public func sessions(webAuthToken: String) throws -> OwnSessions? { nil }

    /// Returns false: sessions can't be ended here.
    public func signOut(webAuthToken: String) throws -> Bool { false }
}

/// A session of a signed-in user in one environment.
public struct SignInSession: Hashable, Sendable {
    /// The environment of the session.
    public let container: CloudService.Container
    /// The record name of the user.
    public let userRecordName: String
}

/// The sessions of one account in one container.
public struct OwnSessions: Sendable {
    /// The unexpired sessions, by the time of the sign-in.
    package let sessions: [ControlSession]
    /// The `id` of the caller's session.
    public let current: String
    /// The token that replaces the caller's, if each response brings a new one.
    public let replacement: String?

    var response: OwnSessionsResponse {
        OwnSessionsResponse(
            sessions: sessions.map { session in
                OwnSession(
                    session: session.id, environment: session.environment,
                    createdAtMilliseconds: session.createdMilliseconds,
                    expiresAtMilliseconds: session.expiresMilliseconds, address: session.address,
                    client: session.client, isCurrent: session.id == current)
            }, webAuthToken: replacement)
    }
}

/// The result of a sign-in.
public enum SignInAnswer: Hashable, Sendable {
    /// The password is correct.
    case signedIn(
        webAuthToken: String, userRecordName: String, expiresAtMilliseconds: Int64, news: SignInNews)
    /// The account doesn't exist or the password is wrong. The response doesn't distinguish the two.
    case refused
    /// The container or the API token doesn't exist, or the app or the account may not use the environment.
    case denied(WireError)
    /// Too many failed attempts for the account or from the address.
    case tooManyTries(retryAfterSeconds: Int)
    /// The server could not read or write. The reason is for the log.
    case failed(reason: String)
}
