import CloudStore
import CloudWire
import Seams

extension CloudService {
    /// Push tasks that one step goes through.
    private static let tasksMax = 64
    /// Pushes after which a step ends.
    private static let pushesMax = 2_000
    /// Query subscriptions that one step tells.
    private static let watchersMax = 500

    /// Lets `listener` know the tokens of the devices for which pushes wait, when they are on disk. It is called on the
    /// thread that wrote them, and must not wait.
    public func setPushListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        // The one before is released after the lock: it holds what listened.
        _ = pushes.withLock { state in
            defer { state.listener = listener }
            return state.listener
        }
    }

    /// True when there may be changes that nobody was told of.
    var pushTasksMayWait: Bool { pushes.withLock { $0.tasksMayWait } }

    /// Makes pushes of the changes that nobody was told of yet: one bounded step, in a transaction of its own.
    /// True when there may be more.
    ///
    /// `CloudServiceThread` does it by itself, also at its start, for what was left before. Call this after `respond`
    /// and `commitGroup`.
    ///
    /// - Throws: `CloudStoreError`; then the changes wait for the next step.
    @discardableResult public func preparePushes() throws -> Bool {
        guard pushTasksMayWait else { return false }
        do {
            if try isWorthAStep() { announce(try store.write { try self.pushStep($0) }) }
        } catch {
            pushes.withLock { $0.tasksMayWait = true }
            throw error
        }
        return pushTasksMayWait
    }

    /// At the first look there is often nothing: a read finds that out without the writer. Later looks have a reason.
    private func isWorthAStep() throws -> Bool {
        let isFirst = pushes.withLock { state in
            defer { state.hasLooked = true }
            return !state.hasLooked
        }
        let isEmpty = { (reader: any CloudStoreReader) throws -> Bool in
            try reader.pushTasks(after: nil, tasksMax: 1).rows.isEmpty
                && reader.notificationReader.firedChanges(changesMax: 1).rows.isEmpty
        }
        guard isFirst, try store.read(isEmpty) else { return true }
        pushes.withLock { $0.tasksMayWait = false }
        return false
    }

    /// The step inside a transaction; returns whom to tell when it is on disk.
    func pushStep(_ writer: any CloudStoreWriter) throws -> [String] {
        let (cursor, ready) = pushes.withLock { state in
            // Before looking: a task that is written after this transaction sets it again.
            state.tasksMayWait = false
            return (state.cursor, state.readyTokens)
        }
        let tasks = try writer.pushTasks(after: cursor, tasksMax: Self.tasksMax)
        let fired = try writer.notificationReader.firedChanges(changesMax: Self.tasksMax)
        var decision = PushDecider.Decision()
        if !tasks.rows.isEmpty || !fired.rows.isEmpty {
            decision = try tell(tasks.rows, fired.rows, writer)
        }
        let isCutShort = tasks.moreComing || decision.isCutShort
        pushes.withLock { state in
            // At the end it goes round: before the cursor there may be others.
            state.cursor = isCutShort ? decision.last : nil
            if isCutShort || cursor != nil || fired.moreComing { state.tasksMayWait = true }
        }
        return ready.union(decision.tokens).sorted()
    }

    private func tell(
        _ tasks: [PushTaskRow], _ fired: [FiredChangeRow], _ writer: any CloudStoreWriter
    ) throws -> PushDecider.Decision {
        var wanted = StoreLoad()
        wanted.subscriptionsIn = Set(tasks.map(\.zone.database)).sorted()
        wanted.databases = wanted.subscriptionsIn
        wanted.zones = tasks.map(\.zone)
        var loaded = try writer.load(wanted)
        let decider = PushDecider(
            subscriptions: loaded.subscriptions,
            indexes: try watchIndexes(of: Set(fired.map(\.watch)).sorted(), writer))
        wanted = StoreLoad()
        wanted.devicesOf = decider.users(tasks, fired, watchersMax: Self.watchersMax).sorted()
        wanted.notifications.feedsOf = wanted.devicesOf
        wanted.notifications.unreadOf = decider.subscriptions(of: tasks)
        loaded.merge(try writer.load(wanted))
        wanted = StoreLoad()
        wanted.pushesOf = loaded.devices.values.joined().map(\.key).sorted()
        loaded.merge(try writer.load(wanted))
        var collector = NotificationCollector(
            loaded: loaded, webhooks: try writer.notificationReader.webhooks(),
            container: container?.identifier, limits: limits, nowMilliseconds: clock.nowMilliseconds(),
            random: random)
        var decision = try decider.decide(
            tasks, fired, pushesMax: Self.pushesMax, watchersMax: Self.watchersMax, collector: &collector)
        decision.changes.removeSubscriptions(of: decision.changes.removedPushTasks, loaded: loaded)
        try writer.apply(decision.changes)
        for feed in decision.changes.notifications.feeds { try trim(feed, writer) }
        if !decision.changes.notifications.deliveries.isEmpty {
            pushes.withLock { $0.deliveriesWereMade = true }
        }
        return decision
    }

    /// Discards the oldest notifications of a user who has more than may be kept.
    private func trim(_ feed: NotificationFeedRow, _ writer: any CloudStoreWriter) throws {
        let excess = feed.count - Int64(limits.notificationsMax)
        guard excess > 0 else { return }
        let oldest = try writer.notificationReader.notifications(
            of: feed.user, after: 0, notificationsMax: Int(excess)
        ).rows
        var changes = StoreChanges()
        changes.discard(oldest, from: feed)
        try writer.apply(changes)
    }

    func announce(_ tokens: [String]) {
        let (listener, webhookListener, abandonedCount) = pushes.withLock { state in
            defer {
                state.deliveriesWereMade = false
                state.abandonedCount = 0
            }
            // Not before: a step that failed has told nobody.
            state.readyTokens.subtract(tokens)
            let isNews = state.deliveriesWereMade || state.abandonedCount > 0
            return (state.listener, isNews ? state.webhookListener : nil, state.abandonedCount)
        }
        if !tokens.isEmpty { listener?(tokens) }
        webhookListener?(abandonedCount)
    }
}
