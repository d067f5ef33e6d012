public import CloudKit

/// Controls and observes the uploads.
extension YapDatabaseCloudKit {
    // MARK: Suspending

    /// Number of calls of `suspend()` without a call of `resume()`. Uploads run only at 0. If failures are left to the
    /// app, a failed operation raises it by one.
    public var suspendCount: Int { runner.suspendCount }

    /// Increments the suspend count. Running work continues, and changes are still recorded.
    /// - Returns: The new count.
    @discardableResult
    public func suspend() -> Int { runner.changeSuspendCount(by: 1) }

    /// Raises the suspend count, up to `Int.max`; 0 only reads it.
    /// - Returns: The new count.
    @discardableResult
    public func suspend(count: UInt) -> Int { runner.changeSuspendCount(by: Int(clamping: count)) }

    /// Lowers the suspend count by one. Uploads go on at 0. If it is 0 already it stays 0, and `events` reports that
    /// `resume()` was called too often.
    /// - Returns: The new count.
    @discardableResult
    public func resume() -> Int { runner.changeSuspendCount(by: -1) }

    // MARK: Watching

    /// The sync status at this moment.
    public var status: CloudSyncStatus { runner.status }

    /// The events of the uploads from now on. Each call returns a stream of its own, which ends when the database is
    /// closed. A stream that isn't read keeps the newest 1,000 events.
    public var events: AsyncStream<Event> { runner.eventStream() }

    // MARK: Going on

    /// Tries everything again that needed attention.
    public func retry() { runner.post(.retry) }

    /// Ends pauses for the network, and fetches what other devices changed meanwhile. Call it when the system reports a
    /// network, and when the app comes to the foreground. Pauses that the server requested are kept.
    public func networkMayBeBack() { runner.post(.networkMayBeBack) }

    /// Resumes work that waits for a sign-in. Call it when `CKAccountChanged` is posted.
    public func accountMayHaveChanged() { runner.post(.accountChanged) }

    /// Handles a notification that the app received: fetches the zones that `CloudSync` follows in the notification's
    /// database.
    ///
    /// Only an app that receives notifications itself needs it. An app that fetches by itself does that now.
    /// - Returns: Whether the notification is about a database with followed zones.
    @discardableResult
    public func handle(_ notification: CKNotification) -> Bool { runner.handle(notification) }
}
