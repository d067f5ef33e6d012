public import CloudKit

/// An event of a device that listens for changes.
public enum CloudNotificationEvent: Sendable {
    /// From now on, changes of other devices are reported. Earlier changes may be missing, so fetch now.
    ///
    /// Comes first, and again after each interruption.
    case listening
    /// No changes are reported until the next `listening`. The device tries again by itself.
    case interrupted(CKError)
    /// Another device changed something that a subscription watches.
    case notification(CKNotification)
}

extension CKContainer {
    /// Returns a stream of changes by other devices, as far as a saved subscription watches them.
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
    ///
    /// The device waits in one request that the server holds open, so it doesn't poll. All streams of containers with
    /// the same server and user share this request, which ends with the last stream's consumer. If a consumer is too
    /// slow, its stream loses the oldest events, and then gets `listening` again.
    ///
    /// `CloudSync` of the module YapCloudKit listens by itself. A second process of the same device would take
    /// notifications away from the first.
    /// - Returns: the stream. It has no end of its own.
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
