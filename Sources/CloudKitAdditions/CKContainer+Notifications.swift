public import CloudKit

/// What a device that listens learns of the cloud.
public enum CloudNotificationEvent: Sendable {
    /// From now on what others change is told. What they changed before may not be told: fetch now.
    ///
    /// Comes first, and again after each interruption.
    case listening
    /// Nothing is heard until the next `listening`. Nothing needs to be done: the device goes on trying.
    case interrupted(CKError)
    /// Another device changed something that a subscription watches.
    case notification(CKNotification)
}

extension CKContainer {
    /// What other devices change, as it happens, as far as a saved subscription watches it.
    ///
    /// ```swift
    /// try await container.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
    /// for await event in container.notifications() {
    ///     switch event {
    ///     case .listening, .notification: await fetchChanges()
    ///     case .interrupted(let error): show(error)
    ///     }
    /// }
    /// ```
    /// The device waits in one request that the server holds open; nothing is asked in between. All streams of all
    /// containers that mean the same cloud share it. It ends when the last stream's consumer does. A stream whose
    /// consumer is far behind loses the oldest events, and is then told `listening` again.
    ///
    /// `CloudSync` of the module YapCloudKit listens by itself. A second process of the same device would take
    /// notifications away from the first.
    public func notifications() -> AsyncStream<CloudNotificationEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CloudNotificationEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEventsMax))
        let end = observeNotifications { event in
            let told: CloudNotificationEvent
            switch event {
            case .listening: told = .listening
            case .interrupted(let error): told = .interrupted(error)
            case .notification(let notification): told = .notification(notification)
            case .waitEnded: return
            }
            if case .dropped = continuation.yield(told) { continuation.yield(.listening) }
        }
        continuation.onTermination = { _ in end() }
        return stream
    }

    private static let bufferedEventsMax = 64
}
