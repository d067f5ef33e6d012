import CloudStore
import CloudWire
import System

/// Makes pushes for changes. Its state is kept in memory and can be rebuilt from the store.
final class PushDelivery: Sendable {
    /// Maximum push tasks processed in one step.
    private static let tasksMax = 64
    /// Number of pushes after which a step ends.
    private static let pushesMax = 2_000
    /// Maximum query subscriptions notified in one step.
    private static let watchersMax = 500

    private struct State {
        /// True if there may be tasks. True at the start, because an earlier process may have left some.
        var tasksMayWait = true
        /// False until the store was read.
        var hasLooked = false
        /// Zone after which the next step begins, so that busy zones don't block others.
        var cursor: ZoneKey?
        var listener: (@Sendable ([String]) -> Void)?
        /// Devices with pushes made outside a step. The next step announces them.
        var readyTokens = Set<String>()
    }

    private let store: any CloudStore
    private let clock: any TimeSource
    private let random: any RandomSource
    private let container: CloudService.Container?
    private let limits: ServiceLimits
    private let watches: QueryWatches
    private let webhooks: Webhooks
    private let state = Lock(State())

    init(
        store: any CloudStore, clock: any TimeSource, random: any RandomSource,
        container: CloudService.Container?, limits: ServiceLimits, watches: QueryWatches, webhooks: Webhooks
    ) {
        (self.store, self.clock, self.random, self.container) = (store, clock, random, container)
        (self.limits, self.watches, self.webhooks) = (limits, watches, webhooks)
    }

    func setListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        // The previous one is released after the lock, since its closure may retain the observer.
        _ = state.withLock { state in
            defer { state.listener = listener }
            return state.listener
        }
    }

    /// True if there may be changes with pending notifications.
    var tasksMayWait: Bool { state.withLock { $0.tasksMayWait } }

    /// Notes that there may be changes with pending notifications.
    func noteTasks() { state.withLock { $0.tasksMayWait = true } }

    /// Notes devices with pending pushes. The next step after the transaction announces them.
    func noteReady(_ apnsTokens: [String]) {
        state.withLock { state in
            state.readyTokens.formUnion(apnsTokens)
            state.tasksMayWait = true
        }
    }

    /// Runs one bounded step in a transaction of its own. Returns true if there may be more.
    func prepare() throws -> Bool {
        guard tasksMayWait else { return false }
        do {
            if try isWorthAStep() { announce(try store.write { try self.step($0) }) }
        } catch {
            noteTasks()
            throw error
        }
        return tasksMayWait
    }

    /// Returns false if a first step would find nothing, which a read finds out without the writer. Later
    /// steps always have a reason.
    private func isWorthAStep() throws -> Bool {
        let isFirst = state.withLock { state in
            defer { state.hasLooked = true }
            return !state.hasLooked
        }
        let isEmpty = { (reader: any CloudStoreReader) throws -> Bool in
            try reader.pushTasks(after: nil, tasksMax: 1).rows.isEmpty
                && reader.notificationReader.firedChanges(changesMax: 1).rows.isEmpty
        }
        guard isFirst, try store.read(isEmpty) else { return true }
        state.withLock { $0.tasksMayWait = false }
        return false
    }

    /// Runs the step inside a transaction.
    ///
    /// - Returns: the tokens of the devices to notify when the transaction is on disk.
    func step(_ writer: any CloudStoreWriter) throws -> [String] {
        let (cursor, ready) = state.withLock { state in
            // Before looking, since a task that is written after this transaction sets it again.
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
        state.withLock { state in
            // After the last zone, the next step starts from the first, since there may be zones before the
            // cursor.
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
            indexes: try watches.indexes(of: Set(fired.map(\.watch)).sorted(), writer))
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
            webhooks.noteDeliveries()
        }
        return decision
    }

    /// Discards the oldest notifications of a user beyond the maximum.
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

    /// Calls the listeners for pushes that are on disk.
    func announce(_ tokens: [String]) {
        let listener = state.withLock { state in
            // Only now: a failed step has notified no device.
            state.readyTokens.subtract(tokens)
            return state.listener
        }
        if !tokens.isEmpty { listener?(tokens) }
        webhooks.announce()
    }
}
