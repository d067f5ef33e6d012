internal import CloudWire
internal import System

/// The user of one request: another user's credential is never used for it.
final class RequestAccount: Sendable {
    private struct State {
        /// Nil until the user is known.
        var userRecordName: String?
        var hasTriedNewerSignIn = false
    }

    private let account: any CloudAccount
    private let state: Lock<State>

    /// - Parameter userRecordName: the user of the request; nil takes the user of the first credential that names one.
    init(_ account: any CloudAccount, userRecordName: String?) {
        self.account = account
        state = Lock(State(userRecordName: userRecordName))
    }

    /// True if the credential has a token and no key. Apple's servers accept such a token for one request only.
    var hasSingleUseToken: Bool {
        guard let credential = try? account.credential() else { return false }
        return credential.webAuthToken != nil && credential.serverKey == nil
    }

    /// Returns the credential for the next attempt.
    /// - Throws: `CKError.notAuthenticated` if another user has signed in since the request began; the error
    ///   of the account.
    func credential() throws(CKError) -> CloudCredential {
        let credential = try account.credential()
        guard let user = credential.userRecordName else { return credential }
        let owner = state.withLock { state in
            let owner = state.userRecordName ?? user
            state.userRecordName = owner
            return owner
        }
        guard owner == user else { throw .anotherUser }
        return credential
    }

    /// Stores the next token, if `response` brings one in place of the token of `credential`.
    func takeToken(from response: WireResponse, after credential: CloudCredential) {
        guard let token = credential.webAuthToken,
            let newToken = response.header(WireHeader.newWebAuthToken)
        else { return }
        account.replace(token, with: newToken)
    }

    /// Returns true if a user has signed in since `credential` was read, possibly in another process. True only once
    /// for a request.
    func hasNewerSignIn(than credential: CloudCredential) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.hasTriedNewerSignIn = true }
            return !state.hasTriedNewerSignIn
        }
        guard isFirst, let now = try? account.credential() else { return false }
        return now.webAuthToken != nil && now != credential
    }
}

extension CKError {
    fileprivate static let anotherUser = CKError(
        .notAuthenticated,
        "Another user has signed in since the operation began: it was not sent as that user.")
}
