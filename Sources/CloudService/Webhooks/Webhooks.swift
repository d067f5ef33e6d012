import CloudStore
import CloudWire
import System

/// The webhooks of an environment, and their pending deliveries. Unannounced deliveries are counted in
/// memory; the deliveries themselves are in the store.
package final class Webhooks: Sendable {
    /// Maximum concurrent requests to one webhook.
    private static let requestsOfOneMax = 4
    /// Maximum deliveries that one step abandons.
    private static let abandonedMax = 500

    private struct Unannounced {
        var listener: (@Sendable (_ abandonedCount: Int) -> Void)?
        /// Number of deliveries given up since the last announcement.
        var abandonedCount = 0
        /// True if deliveries were made since the last announcement.
        var deliveriesWereMade = false
    }

    private let store: any CloudStore
    private let clock: any TimeSource
    private let random: any RandomSource
    private let container: CloudService.Container?
    private let limits: ServiceLimits
    private let unannounced = Lock(Unannounced())

    init(
        store: any CloudStore, clock: any TimeSource, random: any RandomSource,
        container: CloudService.Container?, limits: ServiceLimits
    ) {
        (self.store, self.clock, self.random, self.container) = (store, clock, random, container)
        self.limits = limits
    }

    /// Sets the listener, which is called when new deliveries are durable, with the number of abandoned
    /// deliveries. It is called on the thread that wrote them, and must not block.
    package func setListener(_ listener: (@Sendable (_ abandonedCount: Int) -> Void)?) {
        // The previous listener is released after the lock, because it holds its owner.
        _ = unannounced.withLock { unannounced in
            defer { unannounced.listener = listener }
            return unannounced.listener
        }
    }

    /// Notes that there are new deliveries.
    func noteDeliveries() { unannounced.withLock { $0.deliveriesWereMade = true } }

    /// Calls the listener for the deliveries that are on disk.
    func announce() {
        let (listener, abandonedCount) = unannounced.withLock { unannounced in
            defer {
                unannounced.deliveriesWereMade = false
                unannounced.abandonedCount = 0
            }
            let isPending = unannounced.deliveriesWereMade || unannounced.abandonedCount > 0
            return (isPending ? unannounced.listener : nil, unannounced.abandonedCount)
        }
        listener?(abandonedCount)
    }

    /// Returns the requests to send to webhooks now, up to `requestsMax`.
    ///
    /// A delivery stays stored until `settle` is called. If the server ends before that, it is sent again.
    ///
    /// - Throws: `CloudStoreError`, `CryptoError`.
    package func due(requestsMax: Int) throws -> WebhookBatch {
        let now = clock.nowMilliseconds()
        return try store.read { reader in
            var batch = WebhookBatch()
            for webhook in try reader.notificationReader.webhooks() {
                let left = min(Self.requestsOfOneMax, requestsMax - batch.requests.count)
                let isPaused = webhook.pausedUntilMilliseconds > now
                if !isPaused, left > 0 {
                    let due = try reader.notificationReader.dueDeliveries(
                        of: webhook.name, atMilliseconds: now, deliveriesMax: left)
                    batch.requests += try due.map { try request($0, to: webhook, now) }
                }
                guard
                    let due = try reader.notificationReader.nextDeliveryMilliseconds(of: webhook.name)
                else { continue }
                let next = max(due, webhook.pausedUntilMilliseconds)
                batch.nextMilliseconds = min(batch.nextMilliseconds ?? .max, next)
            }
            return batch
        }
    }

    private func request(
        _ delivery: WebhookDeliveryRow, to webhook: WebhookRow, _ now: Int64
    ) throws -> WebhookRequest {
        try WebhookRequest(
            number: delivery.number, to: webhook, notificationID: delivery.notificationID,
            container: container?.identifier ?? "", environment: container?.environment ?? "",
            body: delivery.body, nowMilliseconds: now)
    }

    /// Stores the results of requests. Ignores deliveries of webhooks that were removed in the meantime.
    package func settle(_ results: [WebhookResult]) throws {
        try store.write { try self.settle(results, $0) }
    }

    func settle(_ results: [WebhookResult], _ writer: any CloudStoreWriter) throws {
        let reader = writer.notificationReader
        let before = try reader.webhooks()
        let changes = settling.settle(
            results, webhooks: before,
            deliveries: try reader.deliveries(numbers: results.map(\.number).sorted()))
        if !changes.isEmpty { try writer.apply(changes) }
        noteAbandoned(changes, before: before)
    }

    /// Counts deliveries that were given up. The next announcement reports them.
    private func noteAbandoned(_ changes: StoreChanges, before: [WebhookRow]) {
        let old = Dictionary(before.map { ($0.name, $0.abandonedCount) }) { $1 }
        let count = changes.notifications.webhooks.reduce(0) { $0 + $1.abandonedCount - (old[$1.name] ?? 0) }
        if count > 0 { unannounced.withLock { $0.abandonedCount += Int(count) } }
    }

    /// Abandons deliveries that failed for a day, and returns their number.
    func abandonDeliveries(_ writer: any CloudStoreWriter) throws -> Int {
        let reader = writer.notificationReader
        let old = try reader.deliveries(
            madeBefore: clock.nowMilliseconds() - limits.webhookMilliseconds, deliveriesMax: Self.abandonedMax
        )
        guard !old.isEmpty else { return 0 }
        let before = try reader.webhooks()
        let changes = settling.abandon(old, webhooks: before)
        try writer.apply(changes)
        noteAbandoned(changes, before: before)
        return old.count == Self.abandonedMax ? old.count : 0
    }

    /// Returns true if there are deliveries to abandon.
    func deliveriesAreOutdated(_ reader: any CloudStoreReader) throws -> Bool {
        try !reader.notificationReader.deliveries(
            madeBefore: clock.nowMilliseconds() - limits.webhookMilliseconds, deliveriesMax: 1
        ).isEmpty
    }

    private var settling: WebhookSettling {
        WebhookSettling(limits: limits, nowMilliseconds: clock.nowMilliseconds(), random: random)
    }

    /// Queues an event that isn't a notification for the webhooks without a condition.
    private func tell(_ event: SignInEvent, _ writer: any CloudStoreWriter) throws {
        let now = clock.nowMilliseconds()
        var collector = WebhookCollector(
            try writer.notificationReader.webhooks(), limits: limits, nowMilliseconds: now)
        collector.add(event: random.nextUUID().lowercased(), body: try event.json())
        var changes = StoreChanges()
        collector.finish(&changes)
        if !changes.isEmpty { try writer.apply(changes) }
    }

    func prepareTelling(_ event: SignInEvent) -> PreparedRequest {
        let work = ServiceWork.write { writer in
            try self.tell(event, writer)
            return .nothing
        }
        return PreparedRequest(work: work, bytes: 0, wantsExtras: false, requestID: "")
    }

    /// Removes a webhook and its pending deliveries.
    ///
    /// - Returns: false if there is no webhook with this name.
    /// - Throws: `CloudStoreError`.
    package func remove(named name: String, _ writer: any CloudStoreWriter) throws -> Bool {
        guard try writer.notificationReader.webhooks().contains(where: { $0.name == name }) else {
            return false
        }
        var changes = StoreChanges()
        changes.notifications.removedWebhooks = [name]
        try writer.apply(changes)
        return true
    }
}
