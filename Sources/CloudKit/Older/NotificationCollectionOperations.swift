internal import CloudWire
import Foundation
internal import System

// The collection of notifications, which Apple has removed. A device has at most one pending push, and the
// collection has all notifications. The service has it under its own paths.

/// Fetches the user's notifications since a token, one page.
@available(*, deprecated)
open class CKFetchNotificationChangesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The token of the last fetch; nil for the whole collection.
    public var previousServerChangeToken: CKServerChangeToken?
    /// Maximum notifications to fetch; 0 leaves it to the server.
    public var resultsLimit = 0
    /// True if the server has more; known once the operation is done.
    public var moreComing: Bool { hasMore.withLock { $0 } }
    private let hasMore = Lock(false)

    /// Called for each notification. One that was marked as read has the type `readNotification`.
    @preconcurrency public var notificationChangedBlock: (@Sendable (CKNotification) -> Void)?
    /// Called last, with the token for the next fetch.
    @preconcurrency public var fetchNotificationChangesCompletionBlock:
        (@Sendable (CKServerChangeToken?, (any Error)?) -> Void)?

    /// Makes an operation that fetches all notifications.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the notifications since `previousServerChangeToken`.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func execute() {
        let message = NotificationsListRequest(
            syncToken: previousServerChangeToken?.token,
            resultsLimit: resultsLimit > 0 ? Int64(resultsLimit) : nil)
        run { address in
            SingleRequestExchange(
                "notifications/list", message, address: address.ofDevice,
                answer: NotificationsListResponse.self
            ) { response throws(CKError) in response }
        } event: { _ in
        } completion: { result in
            for collected in result.value?.notifications ?? [] {
                guard let payload = collected.notification,
                    let notification = CKNotification.of(payload, isRead: collected.isRead == true)
                else { continue }
                self.notificationChangedBlock?(notification)
            }
            self.hasMore.withLock { $0 = result.value?.moreComing ?? false }
            let token = result.value.map { CKServerChangeToken(token: $0.syncToken) }
            self.fetchNotificationChangesCompletionBlock?(token, result.error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            notificationChangedBlock.take(), fetchNotificationChangesCompletionBlock.take()
        )
    }
}

/// Marks notifications as read, and notifies the user's other devices.
@available(*, deprecated)
open class CKMarkNotificationsReadOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The notifications to mark.
    public var notificationIDs: [CKNotification.ID] = []

    /// Called last, with those that are marked.
    @preconcurrency public var markNotificationsReadCompletionBlock:
        (@Sendable ([CKNotification.ID]?, (any Error)?) -> Void)?

    /// Makes an operation that marks nothing yet.
    public override init() {
        super.init()
    }

    /// Makes an operation that marks `notificationIDs`.
    public convenience init(notificationIDsToMarkRead notificationIDs: [CKNotification.ID]) {
        self.init()
        self.notificationIDs = notificationIDs
    }

    override func execute() {
        let names = notificationIDs.map(\.value)
        run { address in
            SingleRequestExchange(
                "notifications/read", NotificationsReadRequest(notificationIDs: names),
                address: address.ofDevice,
                answer: NotificationsReadResponse.self
            ) { response throws(CKError) in response.notifications }
        } event: { _ in
        } completion: { result in
            let (marked, failed) = Self.sorted(result.value ?? [])
            let error = result.error ?? (failed.isEmpty ? nil : .partialFailure(failed))
            self.markNotificationsReadCompletionBlock?(result.error == nil ? marked : nil, error)
        }
    }

    private static func sorted(
        _ entries: [CollectedNotification]
    ) -> (marked: [CKNotification.ID], failed: [AnyHashable: any Error]) {
        var marked: [CKNotification.ID] = []
        var failed: [AnyHashable: any Error] = [:]
        for entry in entries {
            let name = CKNotification.ID(entry.notificationID)
            if let code = entry.serverErrorCode {
                failed[name] = CKError(WireError(code, reason: entry.reason ?? code.rawValue))
            } else {
                marked.append(name)
            }
        }
        return (marked, failed)
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = markNotificationsReadCompletionBlock.take()
    }
}

/// Sets the number on the app's icon. A program on Linux has no icon, so nothing is sent, and the operation
/// succeeds.
/// - Note: Inert: a program on Linux has no icon.
@available(*, deprecated)
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The number.
    public var badgeValue = 0
    /// Called last.
    @preconcurrency public var modifyBadgeCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an operation that sets no number.
    public override init() {
        super.init()
    }

    /// Makes an operation that sets `badgeValue`.
    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    override func execute() {
        modifyBadgeCompletionBlock?(isCancelled ? CKError.cancelled : nil)
        finish()
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = modifyBadgeCompletionBlock.take()
    }
}
