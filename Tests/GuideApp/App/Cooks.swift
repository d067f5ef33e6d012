import CloudKit
import Foundation

/// Who cooks: the account, and the others who want to be found.
final class Cooks: @unchecked Sendable {
    let container: CKContainer
    private var observer: NSObjectProtocol?

    init(container: CKContainer = .default()) {
        self.container = container
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    /// Calls `changed` whenever somebody signed in or out.
    func observeAccount(_ changed: @escaping @Sendable () -> Void) {
        observer = NotificationCenter.default.addObserver(
            forName: CKAccountChangedNotification, object: nil, queue: nil
        ) { _ in changed() }
    }

    /// What the app's first screen says of the cloud.
    func greeting(completion: @escaping @Sendable (String) -> Void) {
        container.accountStatus { status, error in
            switch status {
            case .available: completion("Your recipes are on all your devices")
            case .noAccount: completion("Sign in to have your recipes on all your devices")
            case .restricted: completion("Your recipes may not leave this device")
            case .couldNotDetermine: completion(error.map { "No cloud: \($0)" } ?? "No cloud")
            default: completion("Your recipes wait on this device")
            }
        }
    }

    func myRecordID(completion: @escaping @Sendable (CKRecordID?, Error?) -> Void) {
        container.fetchUserRecordID(completionHandler: completion)
    }

    /// The user's own record, which has room for the app's fields.
    func me(completion: @escaping @Sendable (CKRecord?) -> Void) {
        let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        operation.perRecordCompletionBlock = { record, _, _ in completion(record) }
        container.publicCloudDatabase.add(operation)
    }

    /// Lets others find this user by name.
    func letMeBeFound(completion: @escaping @Sendable (Bool) -> Void) {
        container.requestApplicationPermission(.userDiscoverability) { status, _ in
            completion(status == .granted)
        }
    }

    /// Whether the user with this record may be found.
    func isFound(_ recordID: CKRecordID, completion: @escaping @Sendable (Bool) -> Void) {
        let count = Counter()
        let operation = CKDiscoverUserIdentitiesOperation(
            userIdentityLookupInfos: CKUserIdentityLookupInfo.lookupInfos(with: [recordID]))
        operation.userIdentityDiscoveredBlock = { _, _ in count.add() }
        operation.discoverUserIdentitiesCompletionBlock = { _ in completion(count.value == 1) }
        container.add(operation)
    }

    /// How many are found by whoever asks for all that the device knows.
    func everybody(completion: @escaping @Sendable (Int, Error?) -> Void) {
        let count = Counter()
        let operation = CKDiscoverAllUserIdentitiesOperation()
        operation.userIdentityDiscoveredBlock = { _ in count.add() }
        operation.discoverAllUserIdentitiesCompletionBlock = { error in completion(count.value, error) }
        container.add(operation)
    }

    // MARK: What was missed

    /// All that was told since `token`, whether a push came through or not.
    func inbox(
        since token: CKServerChangeToken?,
        completion: @escaping @Sendable ([CKNotification], CKServerChangeToken?) -> Void
    ) {
        let found = Basket<CKNotification>()
        let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
        operation.notificationChangedBlock = { found.put($0) }
        operation.fetchNotificationChangesCompletionBlock = { token, _ in completion(found.all, token) }
        container.add(operation)
    }

    /// Tells the user's other devices that these are dealt with.
    func markRead(
        _ notifications: [CKNotification],
        completion: @escaping @Sendable ([CKNotificationID]?, Error?) -> Void
    ) {
        let operation = CKMarkNotificationsReadOperation(
            notificationIDsToMarkRead: notifications.compactMap { $0.notificationID })
        operation.markNotificationsReadCompletionBlock = completion
        container.add(operation)
    }
}

/// A number that blocks count up.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func add() { lock.withLock { count += 1 } }
}

/// A list that blocks fill.
final class Basket<Element>: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Element] = []
    var all: [Element] { lock.withLock { list } }
    func put(_ element: Element) { lock.withLock { list.append(element) } }
}
