public import CloudKit

/// Steering the uploads, and watching them.
extension YapDatabaseCloudKit {
    // MARK: Suspending

    /// How often `suspend()` was called without its `resume()`. Uploads run only at 0. An operation that failed raises
    /// it by one when failures are the app's.
    public var suspendCount: Int { runner.suspendCount }

    /// Raises the suspend count by one. What is under way goes on; changes are still recorded.
    /// - Returns: The new count.
    @discardableResult
    public func suspend() -> Int { runner.changeSuspendCount(by: 1) }

    /// Raises the suspend count, at most to the largest number there is; 0 only reads it.
    /// - Returns: The new count.
    @discardableResult
    public func suspend(count: UInt) -> Int { runner.changeSuspendCount(by: Int(clamping: count)) }

    /// Lowers the suspend count by one; at 0 uploads go on. At 0 already it stays 0 and starts nothing, and `events`
    /// says that it was called too often.
    /// - Returns: The new count.
    @discardableResult
    public func resume() -> Int { runner.changeSuspendCount(by: -1) }

    // MARK: Watching

    /// How far the sync is at this moment.
    public var status: CloudSyncStatus { runner.status }

    /// What happens with the uploads from now on. Each call gives a stream of its own, which ends when the database is
    /// closed; one that isn't read keeps the newest 1,000.
    public var events: AsyncStream<Event> { runner.eventStream() }

    // MARK: Going on

    /// Tries everything again that needed attention.
    public func retry() { runner.post(.retry) }

    /// The network may be back: what waited for it goes on at once, and what other devices changed meanwhile is
    /// fetched. Call it when the system says so, and when the app comes to the foreground. Pauses that the server
    /// asked for are kept.
    public func networkMayBeBack() { runner.post(.networkMayBeBack) }

    /// Somebody may have signed in or out: what stood still for that is tried again. Call it when `CKAccountChanged`
    /// is posted.
    public func accountMayHaveChanged() { runner.post(.accountChanged) }

    /// Takes a notification that the app got: what `CloudSync` follows in the notification's database is fetched.
    ///
    /// Needed only where the app listens by itself. An app that fetches by itself does so now.
    /// - Returns: Whether the notification is about a database that something is followed in.
    @discardableResult
    public func handle(_ notification: CKNotification) -> Bool { runner.handle(notification) }
}
