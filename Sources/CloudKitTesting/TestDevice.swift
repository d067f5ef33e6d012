public import CloudKit
internal import CloudService
internal import CloudWire
import Foundation

/// A device of a `TestCloud`. The app on it uses `container`.
public struct TestDevice: Sendable {
    /// The number of the device, from 1 in the order in which devices were made.
    public let number: Int
    /// The app's container, with the device's user signed in.
    public let container: CKContainer
    let cloud: TestCloud
    /// Nil for a device with an account of the test.
    let account: TestAccount?

    // MARK: Account

    /// Signs a user in, in place of the previous one. Posts `CKAccountChanged`.
    /// - Parameter user: any name.
    public func signIn(user: String) {
        cloud.admit(user)
        change(to: .available, user: user)
    }

    /// Signs the user out. Posts `CKAccountChanged`.
    public func signOut() {
        change(to: .noAccount)
    }

    /// Sets the account status that `accountStatus()` returns, and posts `CKAccountChanged` if it has changed.
    ///
    /// Unless the status is `available`, requests that need an account fail: with `managedAccountRestricted` for
    /// `restricted`, with `accountTemporarilyUnavailable` for `temporarilyUnavailable`, otherwise with
    /// `notAuthenticated`. With `couldNotDetermine`, fetching the status fails too. `available` signs the previous user
    /// in again.
    /// - Parameter status: the new status.
    public func setAccountStatus(_ status: CKAccountStatus) {
        change(to: status)
    }

    private func change(to status: CKAccountStatus, user: String? = nil) {
        guard account?.set(status, user: user) == true else { return }
        NotificationCenter.default.post(name: .CKAccountChanged, object: container)
    }

    // MARK: Pushes

    /// Registers the device for pushes, as `registerForRemoteNotifications()` does on Apple's platforms. Earlier
    /// changes aren't pushed. An app that uses `notifications()` registers by itself.
    /// - Throws: `CKError.notAuthenticated` if no user is signed in.
    public func registerForPushes() throws {
        _ = try pushToken()
    }

    /// Returns the pending pushes of the device, the oldest first, and removes them. A push that the test ignores is a
    /// lost push.
    ///
    /// Of each subscription only the newest push is pending, as with Apple.
    /// - Returns: dictionaries as an app's delegate gets them, for `CKNotification(fromRemoteNotificationDictionary:)`.
    /// - Throws: `CKError.notAuthenticated` if no user is signed in.
    public func receivePushes() throws -> [[AnyHashable: Any]] {
        let token = try pushToken()
        var pushes: [[AnyHashable: Any]] = []
        var acknowledged: String?
        while let push = try? cloud.service.takePush(apnsToken: token, acknowledging: acknowledged) {
            acknowledged = push.notificationID
            let json = try? JSONSerialization.jsonObject(with: Data(push.payload))
            if let dictionary = json as? [String: Any] { pushes.append(dictionary) }
        }
        return pushes
    }

    /// The token stays the same as long as the same user is signed in.
    private func pushToken() throws -> String {
        let resolved = try container.resolved()
        let credential = try resolved.connection.account.credential()
        let message = TokensCreateRequest(
            apnsEnvironment: PushEnvironment(rawValue: resolved.connection.environment) ?? .development,
            clientID: credential.deviceID)
        var request = WireRequest(
            path: "/device/1/\(resolved.identifier)/\(resolved.connection.environment)/tokens/create",
            headers: [("Content-Type", "application/json"), (WireHeader.client, "1")],
            body: try message.json())
        if let token = credential.webAuthToken { request.query = [(WireHeader.webAuthTokenItem, token)] }
        // Earlier changes are pushed only to devices that were registered before.
        while (try? cloud.service.preparePushes()) == true {}
        // Calls the service directly, because the test's faults are meant for other requests.
        let reply = Result<WireResponse, CKError>.success(cloud.service.respond(to: request))
        return try ResponseDecoder.decode(TokensResponse.self, from: reply).apnsToken
    }
}
