import CloudService
import CloudWire
import HTTPClient
import System

/// Sends notifications to the operator's webhooks, for all environments from one thread that never waits for
/// a response.
///
/// Pending deliveries are in the environments' stores, so a restarted server sends them again. An environment
/// has one round of a few requests at a time, and the next one begins when all of them have ended.
final class WebhookSender: ThreadOwner {
    /// Maximum requests in a round of an environment.
    static let requestsMax = 8
    /// Maximum concurrent requests of all environments. Further ones are queued.
    private static let transfersMax = 16
    private static let connectSeconds = 5.0
    private static let timeoutSeconds = 10.0
    private static let answerBytesMax = 64 << 10
    /// Milliseconds after which an environment that couldn't answer is retried.
    private static let retryMilliseconds: Int64 = 5_000

    /// Results of the requests since the start.
    struct Counts: Hashable, Sendable {
        var delivered = 0
        var failed = 0
        /// Number of abandoned deliveries.
        var abandoned = 0
    }

    private struct State {
        /// The time of each environment's next round.
        var due: [CloudService.Container: Int64] = [:]
        /// Environments with a round in progress, and whether another one must follow.
        var running: [CloudService.Container: Bool] = [:]
        var counts = Counts()
        var isStopped = false
    }

    private let clock: any TimeSource
    private let client: HTTPClient
    private let state = Lock(State())
    private let table = Lock<EnvironmentTable?>(nil)
    private let alarm = Alarm()
    private let thread = OwnedThread(name: "yap webhooks")

    init(clock: any TimeSource) {
        self.clock = clock
        var options = HTTPClientOptions()
        options.transfersMax = Self.transfersMax
        client = HTTPClient(options: options)
    }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in run() }
    }

    /// Results of the requests since the start.
    var counts: Counts { state.withLock { $0.counts } }

    /// Sets the table of environments. Nothing is sent before.
    func use(_ table: EnvironmentTable) {
        set(table)
        alarm.ring()
    }

    /// Notes that an environment may have pending deliveries.
    func look(at container: CloudService.Container) {
        let now = clock.nowMilliseconds()
        state.withLock { state in
            if state.running[container] != nil {
                state.running[container] = true
            } else {
                state.due[container] = min(state.due[container] ?? .max, now)
            }
        }
        alarm.ring()
    }

    /// Notes that an environment has pending deliveries, and the number of abandoned ones.
    func hear(of container: CloudService.Container, abandonedCount: Int) {
        state.withLock { $0.counts.abandoned += abandonedCount }
        look(at: container)
    }

    /// Cancels the requests in progress, and ends the thread. The next server sends their deliveries again.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        client.stop()
        alarm.ring()
        thread.waitForEnd()
        set(nil)
    }

    private func set(_ table: EnvironmentTable?) {
        // The previous one is released after the lock.
        _ = self.table.withLock { current in
            defer { current = table }
            return current
        }
    }

    // MARK: The thread

    private func run() {
        while true {
            let table = table.withLock { $0 }
            let now = clock.nowMilliseconds()
            let (ready, next, isStopped) = state.withLock {
                state -> ([CloudService.Container], Int64?, Bool) in
                guard table != nil, !state.isStopped else { return ([], nil, state.isStopped) }
                let ready = state.due.filter { $0.value <= now }.keys
                    .sorted { ($0.identifier, $0.environment) < ($1.identifier, $1.environment) }
                for container in ready {
                    state.due[container] = nil
                    state.running[container] = false
                }
                return (ready, state.due.values.min(), false)
            }
            if isStopped { return }
            if let table { for container in ready { begin(container, table) } }
            alarm.wait(milliseconds: next.map { max(1, $0 - now) })
        }
    }

    // MARK: One round

    private func begin(_ container: CloudService.Container, _ table: EnvironmentTable) {
        table.use(container) { [self] result in
            guard case .success(let environment) = result else {
                // A removed environment has nothing to send.
                if case .failure(let error) = result, error.serverErrorCode == .notFound {
                    return endRound(container)
                }
                return endRound(container, isLater: true)
            }
            environment.thread.dueWebhooks(requestsMax: Self.requestsMax) { [self] batch in
                guard let batch, !batch.requests.isEmpty else {
                    table.release(environment)
                    return endRound(container, next: batch?.nextMilliseconds, isLater: batch == nil)
                }
                send(batch.requests) { [self] results in
                    environment.thread.settleWebhooks(results) { [self] isWritten in
                        table.release(environment)
                        endRound(container, next: isWritten ? 0 : nil, isLater: !isWritten)
                    }
                }
            }
        }
    }

    /// - Parameters:
    ///   - next: the time of the next round, or nil to wait for new deliveries.
    ///   - isLater: true if the environment couldn't be read.
    private func endRound(_ container: CloudService.Container, next: Int64? = nil, isLater: Bool = false) {
        let now = clock.nowMilliseconds()
        state.withLock { state in
            let isRung = state.running.removeValue(forKey: container) ?? false
            let next = isLater ? now + Self.retryMilliseconds : isRung ? now : next
            if let next { state.due[container] = min(state.due[container] ?? .max, next) }
        }
        alarm.ring()
    }

    /// Sends all requests, and reports their results when the last has ended.
    private func send(
        _ requests: [WebhookRequest], completion: @escaping @Sendable ([WebhookResult]) -> Void
    ) {
        let left = Lock((count: requests.count, results: [WebhookResult]()))
        for request in requests {
            client.send(Self.httpRequest(request)) { [self] answer in
                let result = Self.result(of: request, answer)
                count(result)
                let all = left.withLock { left -> [WebhookResult]? in
                    left.count -= 1
                    if let result { left.results.append(result) }
                    return left.count == 0 ? left.results : nil
                }
                if let all { completion(all) }
            }
        }
    }

    private func count(_ result: WebhookResult?) {
        guard let result else { return }
        state.withLock { state in
            if result.isDelivered { state.counts.delivered += 1 } else { state.counts.failed += 1 }
        }
    }

    private static func httpRequest(_ request: WebhookRequest) -> HTTPClientRequest {
        HTTPClientRequest(
            method: "POST", url: request.url, headers: request.headers.map { ($0.name, $0.value) },
            body: request.body, connectTimeoutSeconds: connectSeconds, timeoutSeconds: timeoutSeconds,
            responseBytesMax: answerBytesMax)
    }

    /// Returns nil if it was never sent, because the server stops.
    private static func result(
        of request: WebhookRequest, _ answer: Result<HTTPClientResponse, HTTPClientError>
    ) -> WebhookResult? {
        switch answer {
        case .success(let response):
            return WebhookResult(
                number: request.number, isDelivered: (200..<300).contains(response.status),
                summary: "HTTP \(response.status)")
        case .failure(let error) where error.code == .stopped || error.code == .cancelled:
            return nil
        case .failure(let error):
            // The error's message may contain the address, and an address may contain a secret.
            return WebhookResult(number: request.number, isDelivered: false, summary: "\(error.code)")
        }
    }
}
