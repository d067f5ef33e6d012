import CloudStore
import Seams

extension CloudService {
    /// Requests to one webhook at a time.
    private static let requestsOfOneMax = 4
    /// Deliveries that one step gives up.
    private static let abandonedMax = 500

    /// Is told when something new is to be sent to webhooks and is on disk, and how much was given up. Called on the
    /// thread that wrote it, and must not wait.
    package func setWebhookListener(_ listener: (@Sendable (_ abandonedCount: Int) -> Void)?) {
        // The one before is released after the lock: it holds what listened.
        _ = pushes.withLock { state in
            defer { state.webhookListener = listener }
            return state.webhookListener
        }
    }

    /// What is to be sent to webhooks now, `requestsMax` at most.
    ///
    /// It stays until `settleWebhooks` tells what became of it: a server that ends in between sends it again.
    ///
    /// - Throws: `CloudStoreError`, `CryptoError`.
    package func dueWebhooks(requestsMax: Int) throws -> WebhookBatch {
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

    /// Keeps what has become of requests. A webhook that was removed meanwhile has no deliveries any more.
    package func settleWebhooks(_ results: [WebhookResult]) throws {
        try store.write { try self.settleWebhooks(results, $0) }
    }

    func settleWebhooks(_ results: [WebhookResult], _ writer: any CloudStoreWriter) throws {
        let reader = writer.notificationReader
        let before = try reader.webhooks()
        let changes = webhookSettling.settle(
            results, webhooks: before,
            deliveries: try reader.deliveries(numbers: results.map(\.number).sorted()))
        if !changes.isEmpty { try writer.apply(changes) }
        noteAbandoned(changes, before: before)
    }

    /// Counts what was given up; told with the next announcement.
    private func noteAbandoned(_ changes: StoreChanges, before: [WebhookRow]) {
        let old = Dictionary(before.map { ($0.name, $0.abandonedCount) }) { $1 }
        let count = changes.notifications.webhooks.reduce(0) { $0 + $1.abandonedCount - (old[$1.name] ?? 0) }
        if count > 0 { pushes.withLock { $0.abandonedCount += Int(count) } }
    }

    /// Gives up what no webhook has taken in a day; returns how much it was.
    func abandonWebhookDeliveries(_ writer: any CloudStoreWriter) throws -> Int {
        let reader = writer.notificationReader
        let old = try reader.deliveries(
            madeBefore: clock.nowMilliseconds() - limits.webhookMilliseconds, deliveriesMax: Self.abandonedMax
        )
        guard !old.isEmpty else { return 0 }
        let before = try reader.webhooks()
        let changes = webhookSettling.abandon(old, webhooks: before)
        try writer.apply(changes)
        noteAbandoned(changes, before: before)
        return old.count == Self.abandonedMax ? old.count : 0
    }

    /// Whether there is something to give up.
    func webhookDeliveriesAreOutdated(_ reader: any CloudStoreReader) throws -> Bool {
        try !reader.notificationReader.deliveries(
            madeBefore: clock.nowMilliseconds() - limits.webhookMilliseconds, deliveriesMax: 1
        ).isEmpty
    }

    private var webhookSettling: WebhookSettling {
        WebhookSettling(limits: limits, nowMilliseconds: clock.nowMilliseconds(), random: random)
    }
}

extension CloudServiceThread {
    /// `CloudService.dueWebhooks` on one of the threads; nil when it can't be answered now.
    package func dueWebhooks(
        requestsMax: Int, completion: @escaping @Sendable (WebhookBatch?) -> Void
    ) {
        let service = crew.service
        let found = Lock<WebhookBatch?>(nil)
        run(
            {
                let batch = try? service.dueWebhooks(requestsMax: requestsMax)
                found.withLock { $0 = batch }
                return .answer(.nothing)
            }, completion: { _ in completion(found.withLock { $0 }) })
    }

    /// `CloudService.settleWebhooks` together with the writes that wait. False when it couldn't be written: what was
    /// sent is sent again.
    package func settleWebhooks(
        _ results: [WebhookResult], completion: @escaping @Sendable (_ isWritten: Bool) -> Void
    ) {
        let service = crew.service
        run(
            {
                .write { writer in
                    try service.settleWebhooks(results, writer)
                    return .nothing
                }
            },
            completion: { answer in
                if case .nothing = answer { completion(true) } else { completion(false) }
            })
    }

    /// Runs work of the service's own; the answer is an error when it can't be taken.
    private func run(
        _ work: @escaping @Sendable () -> ServiceWork, completion: @escaping @Sendable (ServiceAnswer) -> Void
    ) {
        crew.take(
            ServiceJob(
                bytes: 0, owner: "webhooks",
                begin: { PreparedRequest(work: work(), bytes: 0, wantsExtras: false) },
                finish: { _, answer, _ in completion(answer) },
                refuse: { completion(.error(ServiceCrew.refusal)) }))
    }
}
