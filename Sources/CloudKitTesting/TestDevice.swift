public import CloudKit
internal import CloudService
internal import CloudWire
import Foundation

/// A device of a `TestCloud`: the app on it uses `container`.
public struct TestDevice: Sendable {
    /// Counts from 1 in the order in which the devices were made.
    public let number: Int
    /// The app's container, with the device's user signed in.
    public let container: CKContainer
    let cloud: TestCloud
    /// Nil for a device whose account is a test's own.
    let account: TestAccount?

    // MARK: Account

    /// Signs a user in, and the former one out. Posts `CKAccountChanged`.
    public func signIn(user: String) {
        cloud.admit(user)
        change(to: .available, user: user)
    }

    /// Signs the user out. Posts `CKAccountChanged`.
    public func signOut() {
        change(to: .noAccount)
    }

    /// Says what `accountStatus()` finds out, and posts `CKAccountChanged` when that is new.
    ///
    /// Unless it is `available`, what needs an account fails: with `managedAccountRestricted` when it is
    /// `restricted`, with `accountTemporarilyUnavailable` when it is that, and else with `notAuthenticated`. With
    /// `couldNotDetermine`, asking for the status fails too. `available` signs the former user in again.
    public func setAccountStatus(_ status: CKAccountStatus) {
        change(to: status)
    }

    private func change(to status: CKAccountStatus, user: String? = nil) {
        guard account?.set(status, user: user) == true else { return }
        NotificationCenter.default.post(name: .CKAccountChanged, object: container)
    }

    // MARK: Pushes

    /// Makes the device one that is told of changes, as `registerForRemoteNotifications()` does on Apple's platforms.
    /// Changes before that are not told. An app that uses `notifications()` does it by itself.
    /// - Throws: `CKError.notAuthenticated` when nobody is signed in.
    public func registerForPushes() throws {
        _ = try pushToken()
    }

    /// The pushes that wait for the device, the oldest first, each as the dictionary that an app's delegate gets and
    /// `CKNotification(fromRemoteNotificationDictionary:)` reads. They are taken: a push that the test does nothing
    /// with is one that was lost on its way.
    ///
    /// Of one subscription only the newest push waits, as with Apple.
    /// - Throws: `CKError.notAuthenticated` when nobody is signed in.
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

    /// The same each time, as long as the same user is signed in.
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
        // What was changed until now is told to those who were there.
        while (try? cloud.service.preparePushes()) == true {}
        // Not over the network: what a test orders for requests isn't meant for this one.
        let reply = Result<WireResponse, CKError>.success(cloud.service.respond(to: request))
        return try ResponseDecoder.decode(TokensResponse.self, from: reply).apnsToken
    }
}
