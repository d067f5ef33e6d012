import CloudStore
import CloudWire
import System

extension CloudServiceThread {
    /// `Webhooks.due` on one of the threads, or nil if it can't be executed now.
    package func dueWebhooks(
        requestsMax: Int, completion: @escaping @Sendable (WebhookBatch?) -> Void
    ) {
        let webhooks = threads.service.webhooks
        let found = Lock<WebhookBatch?>(nil)
        run(
            {
                let batch = try? webhooks.due(requestsMax: requestsMax)
                found.withLock { $0 = batch }
                return .answer(.nothing)
            }, completion: { _ in completion(found.withLock { $0 }) })
    }

    /// `Webhooks.settle` together with the pending writes. False if it couldn't be written; then sent
    /// requests are sent again.
    package func settleWebhooks(
        _ results: [WebhookResult], completion: @escaping @Sendable (_ isWritten: Bool) -> Void
    ) {
        let webhooks = threads.service.webhooks
        run(
            {
                .write { writer in
                    try webhooks.settle(results, writer)
                    return .nothing
                }
            },
            completion: { answer in
                if case .nothing = answer { completion(true) } else { completion(false) }
            })
    }

    /// Queues an event that isn't a notification for the webhooks without a condition. `completion` receives
    /// true once it is durable, like that of `send`.
    package func tellWebhooks(_ event: SignInEvent, completion: @escaping @Sendable (Bool) -> Void) {
        let webhooks = threads.service.webhooks
        threads.take(
            ServiceJob(
                bytes: 0, owner: "webhooks", begin: { webhooks.prepareTelling(event) },
                finish: { _, answer, _ in
                    if case .nothing = answer { completion(true) } else { completion(false) }
                }, refuse: { completion(false) }))
    }

    /// Executes work of the service itself. The response is an error if the queue is full.
    private func run(
        _ work: @escaping @Sendable () -> ServiceWork, completion: @escaping @Sendable (ServiceAnswer) -> Void
    ) {
        threads.take(
            ServiceJob(
                bytes: 0, owner: "webhooks",
                begin: { PreparedRequest(work: work(), bytes: 0, wantsExtras: false) },
                finish: { _, answer, _ in completion(answer) },
                refuse: { completion(.error(ServiceThreads.refusal)) }))
    }
}
