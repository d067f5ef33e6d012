import CloudKit
import System

/// The account of a device, as the test sets it.
final class TestAccount: CloudAccount {
    private struct State {
        var user: String?
        var status: CKAccountStatus
        var handlers: [@Sendable (_ isOurs: Bool) -> Void] = []
    }

    private let deviceID: String
    private let state: Lock<State>

    init(user: String?, deviceID: String) {
        self.deviceID = deviceID
        state = Lock(State(user: user, status: user == nil ? .noAccount : .available))
    }

    func credential() -> CloudCredential {
        state.withLock { state in
            guard let user = state.user, state.status == .available else {
                return CloudCredential(deviceID: deviceID)
            }
            return CloudCredential(
                webAuthToken: TestCloud.token(user), deviceID: deviceID,
                userRecordName: TestCloud.userRecordName(user))
        }
    }

    func localStatus() throws(CKError) -> CKAccountStatus? {
        let status = state.withLock { $0.status }
        switch status {
        case .couldNotDetermine:
            throw CKError(.internalError, "The test made the account's status unavailable.")
        case .available: return nil
        default: return status
        }
    }

    /// The error of requests that need an account, in place of `notAuthenticated`; nil leaves that.
    var refusal: CKError.Code? {
        switch state.withLock({ $0.status }) {
        case .restricted: .managedAccountRestricted
        case .temporarilyUnavailable: .accountTemporarilyUnavailable
        default: nil
        }
    }

    /// Sets the status.
    /// - Returns: true if the user or the status has changed.
    func set(_ status: CKAccountStatus, user: String?) -> Bool {
        let (handlers, isOtherUser, isChange) = state.withLock { state in
            let before = (state.user, state.status)
            state.user = user ?? state.user
            state.status = status
            if status == .noAccount { state.user = nil }
            if state.user == nil, status == .available { state.status = .noAccount }
            return (state.handlers, state.user != before.0, state.user != before.0 || status != before.1)
        }
        if isOtherUser { for handler in handlers { handler(true) } }
        return isChange
    }

    func onUserChange(_ handler: @escaping @Sendable (_ isOurs: Bool) -> Void) {
        state.withLock { $0.handlers.append(handler) }
    }

    // The service of a test replaces no tokens.
    func replace(_ token: String, with newToken: String) {}
}
