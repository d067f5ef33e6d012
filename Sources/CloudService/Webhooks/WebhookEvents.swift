import CloudStore
import CloudWire
import Seams

extension CloudService {
    /// Puts an event that is no notification into the queues of the webhooks that want everything.
    private func tellWebhooks(_ event: SignInEvent, _ writer: any CloudStoreWriter) throws {
        let now = clock.nowMilliseconds()
        var collector = WebhookCollector(
            try writer.notificationReader.webhooks(), limits: limits, nowMilliseconds: now)
        collector.add(event: random.nextUUID().lowercased(), body: try event.json())
        var changes = StoreChanges()
        collector.finish(&changes)
        if !changes.isEmpty { try writer.apply(changes) }
    }

    fileprivate func prepareTelling(_ event: SignInEvent) -> PreparedRequest {
        let work = ServiceWork.write { writer in
            try self.tellWebhooks(event, writer)
            return .nothing
        }
        return PreparedRequest(work: work, bytes: 0, wantsExtras: false, requestID: "")
    }
}

extension CloudServiceThread {
    /// Tells the webhooks that have no condition of something that is no notification. `completion` is told whether it
    /// is on disk, as that of `send` is.
    package func tellWebhooks(_ event: SignInEvent, completion: @escaping @Sendable (Bool) -> Void) {
        let service = crew.service
        crew.take(
            ServiceJob(
                bytes: 0, owner: "webhooks", begin: { service.prepareTelling(event) },
                finish: { _, answer, _ in
                    if case .nothing = answer { completion(true) } else { completion(false) }
                }, refuse: { completion(false) }))
    }
}
