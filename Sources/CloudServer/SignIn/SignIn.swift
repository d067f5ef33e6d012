public import CloudWire

/// Checks an account's password and makes a token. It blocks (a password's hash takes its time), and is called on
/// the server's thread for sign-ins, never on a loop.
public protocol SignInChecker: Sendable {
    /// Answers one sign-in; `peer` is the address that asks, for limits on tries.
    func signIn(_ request: SignInRequest, peer: String) -> SignInAnswer

    /// What the sign-in page with this ticket in its address is for; nil when the ticket isn't one, or too old.
    func page(ticket: String) throws -> SignInPage?

    /// The code of the page's form in the browser that holds `nonce`.
    func formCode(ticket: String, nonce: String) throws -> String

    /// Answers what a user typed into the page.
    func signIn(_ form: SignInForm, peer: String) -> SignInAnswer

    /// Ends the session of a token; false when there was none.
    func signOut(webAuthToken: String) throws -> Bool
}

extension SignInChecker {
    /// Nil: there is no page.
    public func page(ticket: String) throws -> SignInPage? { nil }

    /// Nothing: there is no page.
    public func formCode(ticket: String, nonce: String) throws -> String { "" }

    /// Refused: there is no page.
    public func signIn(_ form: SignInForm, peer: String) -> SignInAnswer { .refused }

    /// False: sessions have no end here.
    public func signOut(webAuthToken: String) throws -> Bool { false }
}

/// What a sign-in comes to.
public enum SignInAnswer: Hashable, Sendable {
    /// The password fits.
    case signedIn(webAuthToken: String, userRecordName: String, expiresAtMilliseconds: Int64)
    /// No such account, another password, or a container or an API token that isn't here: which one isn't told.
    case refused
    /// The account or the address tried too often.
    case tooManyTries(retryAfterSeconds: Int)
    /// The server could not read or write; the reason is for the log.
    case failed(reason: String)
}
