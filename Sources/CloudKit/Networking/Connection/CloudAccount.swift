internal import System

/// Who asks: what is put on every request.
package struct CloudCredential: Hashable, Sendable {
    /// What proves who the user is; nil when nobody is signed in.
    package var webAuthToken: String?
    /// What names the app, where the server asks for it.
    package var apiToken: String?
    /// What names the device, so that it isn't told of its own changes.
    package var deviceID: String?
    /// Whose token it is, where that is known without asking the server.
    package var userRecordName: String?
    /// By which the request is signed, in the place of tokens.
    package var serverKey: ServerKey?

    /// Whether it says more than which app asks.
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

/// Knows the credential of the moment. Called on threads that may wait for a file.
package protocol CloudAccount: Sendable {
    /// The credential for the next request.
    /// - Throws: when there is one that can't be used, with what to do about it.
    func credential() throws(CKError) -> CloudCredential

    /// Takes the token that the server gave in `token`'s place: Apple's servers take each only once.
    func replace(_ token: String, with newToken: String)

    /// What this device knows of the account without asking the server; nil: somebody is signed in.
    /// - Throws: when that can't be found out.
    func localStatus() throws(CKError) -> CKAccountStatus?

    /// Calls `handler`, on any thread, when another user is signed in than before, or nobody any more. It is told
    /// whether that was done in this process.
    func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void)
}

extension CloudAccount {
    package func localStatus() throws(CKError) -> CKAccountStatus? {
        try credential().webAuthToken == nil ? .noAccount : nil
    }

    package func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void) {}
}

extension CKDatabase {
    /// Who is signed in, where that is known without asking the server.
    package var knownUserRecordName: String? {
        (try? core.resolved().connection.account.credential())?.userRecordName
    }
}

/// A credential that doesn't change but by the server.
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
