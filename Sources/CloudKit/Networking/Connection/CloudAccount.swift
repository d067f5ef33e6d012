internal import System

/// The tokens and IDs that are sent with each request.
package struct CloudCredential: Hashable, Sendable {
    /// Authenticates the user; nil if no user is signed in.
    package var webAuthToken: String?
    /// Identifies the app, for servers that require it.
    package var apiToken: String?
    /// Identifies the device, so that it isn't notified of its own changes.
    package var deviceID: String?
    /// The user of the token; nil if only the server knows it.
    package var userRecordName: String?
    /// Signs the request, in place of tokens.
    package var serverKey: ServerKey?

    /// True if the credential authenticates a user or a server.
    var isSignedIn: Bool { webAuthToken != nil || serverKey != nil }

    /// Makes a credential.
    package init(
        webAuthToken: String? = nil, apiToken: String? = nil, deviceID: String? = nil,
        userRecordName: String? = nil, serverKey: ServerKey? = nil
    ) {
        self.serverKey = serverKey
        self.userRecordName = userRecordName
        self.webAuthToken = webAuthToken
        self.apiToken = apiToken
        self.deviceID = deviceID
    }
}

/// The source of the current credential. Its methods may read files.
package protocol CloudAccount: Sendable {
    /// Returns the credential for the next request.
    /// - Throws: an error that says how to correct an unusable credential.
    func credential() throws(CKError) -> CloudCredential

    /// Stores the token that the server returned in place of `token`. Apple's servers accept each token once.
    func replace(_ token: String, with newToken: String)

    /// Returns the account status if it is known locally, or nil if a user is signed in, so that the server must be
    /// queried.
    /// - Throws: if the status can't be determined.
    func localStatus() throws(CKError) -> CKAccountStatus?

    /// Calls `handler`, on any thread, when the user has changed or has signed out.
    /// - Parameter handler: gets true if this process has changed the user.
    func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void)
}

extension CloudAccount {
    package func localStatus() throws(CKError) -> CKAccountStatus? {
        try credential().webAuthToken == nil ? .noAccount : nil
    }

    package func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void) {}
}

extension CKDatabase {
    /// The signed-in user; nil if only the server knows it.
    package var knownUserRecordName: String? {
        (try? core.resolved().connection.account.credential())?.userRecordName
    }
}

/// An account with one credential. Only the server replaces its token.
package final class FixedAccount: CloudAccount {
    private let current: Lock<CloudCredential>

    /// Makes an account with `credential`.
    package init(_ credential: CloudCredential) {
        current = Lock(credential)
    }

    package func credential() -> CloudCredential { current.withLock { $0 } }

    package func replace(_ token: String, with newToken: String) {
        current.withLock { if $0.webAuthToken == token { $0.webAuthToken = newToken } }
    }
}
