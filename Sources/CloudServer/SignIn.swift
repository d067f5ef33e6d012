public import CloudWire

/// Checks an account's password and makes a token. It blocks (a password's hash takes its time), and is called on
/// the server's thread for sign-ins, never on a loop.
public protocol SignInChecker: Sendable {
    /// Answers one sign-in; `peer` is the address that asks, for limits on tries.
    func signIn(_ request: SignInRequest, peer: String) -> SignInAnswer
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
