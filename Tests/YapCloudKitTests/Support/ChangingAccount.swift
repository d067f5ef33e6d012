import CloudKit
import CloudKitTesting
import System

/// Who is signed in on a device, as the test says.
final class ChangingAccount: CloudAccount {
    private let current = Lock(CloudCredential(deviceID: "phone"))

    func credential() -> CloudCredential { current.withLock { $0 } }

    func replace(_ token: String, with newToken: String) {}

    func signIn(_ user: String?, _ cloud: TestCloud) {
        current.withLock {
            $0.webAuthToken = user.map { cloud.token(of: $0) }
            $0.userRecordName = user.map { "_\($0)" }
        }
    }
}
