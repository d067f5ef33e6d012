import CloudKit
import System

/// Who is signed in on a device.
final class DeviceAccount: CloudAccount {
    private let deviceID: String
    private let state = Lock(0)

    init(deviceID: String) {
        self.deviceID = deviceID
    }

    /// The user's number.
    var user: Int { state.withLock { $0 } }

    func signIn(user: Int) {
        state.withLock { $0 = user }
    }

    func credential() -> CloudCredential {
        let user = user
        return CloudCredential(
            webAuthToken: SimulatedService.token(user), deviceID: deviceID,
            userRecordName: SimulatedService.userRecordName(user))
    }

    // The service gives no new tokens.
    func replace(_ token: String, with newToken: String) {}
}
