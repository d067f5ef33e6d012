import CloudService
import CloudWire
import HTTPServer
import System

/// Delivers pushes to the devices that poll for them. A held poll is an entry in a table and uses no thread.
///
/// A push is deleted from the store once the device has received it: our own client confirms it in its next
/// poll (`after`). For other clients it counts as received once the kernel has taken the response's bytes.
final class Courier: ThreadOwner {
    private typealias Device = CourierPolls<Waiting>.Device

    /// A held poll.
    private struct Waiting: Sendable {
        let reply: Reply
        /// The client's address.
        let peer: String
        /// The container of the device's store.
        let container: CloudService.Container
        /// True if the client acknowledges pushes itself.
        let acknowledges: Bool
    }

    private let polls: Lock<CourierPolls<Waiting>>
    private let pollsMax: Int
    private let clock: any MonotonicSource
    private let alarm = Alarm()
    private let isStopped = Lock(false)
    private let thread = OwnedThread(name: "yap courier")
    private let delivered = Lock(0)

    init(pollsMax: Int, holdMilliseconds: Int64, clock: any MonotonicSource) {
        self.pollsMax = pollsMax
        self.clock = clock
        polls = Lock(CourierPolls(pollsMax: pollsMax, holdMilliseconds: holdMilliseconds))
    }

    /// Starts the thread that ends expired polls. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in endExpiredPolls() }
    }

    /// Number of pushes delivered to devices since the start.
    var deliveredCount: Int { delivered.withLock { $0 } }

    /// Number of held polls.
    var count: Int { polls.withLock { $0.count } }

    /// Holds a device's poll until there is a push for it.
    ///
    /// - Parameter peer: the client's address.
    func poll(
        _ head: HTTPRequestHead, _ reply: Reply, peer: String, container: CloudService.Container,
        in table: EnvironmentTable
    ) {
        guard let apnsToken = head.queryValue("token"), !apnsToken.isEmpty, apnsToken.utf8.count <= 256 else {
            return reply.send(Refusal.badRequest("the courier's URL has a token"))
        }
        let after = head.queryValue("after")
        let waiting = Waiting(
            reply: reply, peer: peer, container: container,
            acknowledges: head.header(WireHeader.client) == "1")
        table.use(container, from: peer) { [self] result in
            switch result {
            case .failure(let error):
                reply.send(error)
            case .success(let environment):
                let device = Device(environment: environment.number, apnsToken: apnsToken)
                hold(device, waiting, after: after, environment, table)
            }
        }
    }

    /// Notifies the courier of pending pushes for these devices. Called on any thread.
    func pushesReady(environment: Int, apnsTokens: [String], in table: EnvironmentTable) {
        for apnsToken in apnsTokens {
            let device = Device(environment: environment, apnsToken: apnsToken)
            let rung = polls.withLock { polls in
                polls.rang(device).flatMap { number in polls[device].map { (number, $0.container) } }
            }
            guard let (number, container) = rung else { continue }
            table.use(container) { [self] result in
                switch result {
                case .failure(let error):
                    polls.withLock { $0.end(device, number) }?.reply.send(error)
                case .success(let environment):
                    ask(device, number, after: nil, environment, table)
                }
            }
        }
    }

    /// Ends the polls of an environment that is being removed.
    func remove(where isRemoved: (CloudService.Container) -> Bool) {
        for waiting in polls.withLock({ $0.end { isRemoved($0.container) } }) {
            waiting.reply.send(Refusal.removed(waiting.container))
        }
    }

    /// Responds to all polls. Later polls get an immediate response.
    func stop() {
        isStopped.withLock { $0 = true }
        for waiting in polls.withLock({ $0.stop() }) { waiting.reply.sendEmpty() }
        alarm.ring()
    }

    // MARK: One poll

    private func hold(
        _ device: Device, _ waiting: Waiting, after: String?, _ environment: OpenEnvironment,
        _ table: EnvironmentTable
    ) {
        let now = clock.elapsedMilliseconds()
        let (arrival, isFirst) = polls.withLock { polls in
            let isFirst = polls.nextDeadlineMilliseconds == nil
            return (polls.arrive(device, waiting, nowMilliseconds: now), isFirst)
        }
        guard case .held(let number, let replaced) = arrival else {
            table.release(environment)
            if isStopped.withLock({ $0 }) { return waiting.reply.sendEmpty() }
            return waiting.reply.send(Refusal.tooManyPolls(pollsMax))
        }
        if isFirst { alarm.ring() }
        replaced?.reply.sendEmpty()
        waiting.reply.exchange.onDisconnect { [self] in
            _ = polls.withLock { $0.end(device, number) }
        }
        ask(device, number, after: after, asker: waiting.peer, environment, table)
    }

    /// Checks the store for a pending push, and releases the environment afterwards.
    ///
    /// - Parameter asker: the client's address, or nil if the server itself checks.
    private func ask(
        _ device: Device, _ number: CourierPolls<Waiting>.Number, after: String?, asker: String? = nil,
        _ environment: OpenEnvironment, _ table: EnvironmentTable
    ) {
        let taking = polls.withLock { $0[device]?.acknowledges } == true ? PushTaking.each : .newest
        environment.thread.takePush(
            apnsToken: device.apnsToken, acknowledging: after, taking: taking, asker: asker
        ) { [self] taken in
            switch taken {
            case .success(nil):
                if polls.withLock({ $0.foundNothing(device, number) }) {
                    return ask(device, number, after: nil, environment, table)
                }
                table.release(environment)
            case .failure(let error):
                table.release(environment)
                polls.withLock { $0.end(device, number) }?.reply.send(error)
            case .success(let push?):
                // A client that has disconnected gets the push at its next poll.
                guard let waiting = polls.withLock({ $0.end(device, number) }) else {
                    return table.release(environment)
                }
                deliver(push, to: device, waiting, environment, table)
            }
        }
    }

    private func deliver(
        _ push: CourierPush, to device: Device, _ waiting: Waiting, _ environment: OpenEnvironment,
        _ table: EnvironmentTable
    ) {
        delivered.withLock { $0 += 1 }
        if waiting.acknowledges {
            table.release(environment)
            return waiting.reply.sendJSON(push.payload)
        }
        waiting.reply.sendJSON(push.payload) { isWritten in
            if isWritten {
                environment.thread.acknowledgePushes(apnsToken: device.apnsToken, through: push)
            }
            table.release(environment)
        }
    }

    // MARK: Time

    private func endExpiredPolls() {
        while !isStopped.withLock({ $0 }) {
            let now = clock.elapsedMilliseconds()
            let (expired, next) = polls.withLock { polls in
                (polls.endExpired(nowMilliseconds: now), polls.nextDeadlineMilliseconds)
            }
            for waiting in expired { waiting.reply.sendEmpty() }
            alarm.wait(milliseconds: next.map { max(1, $0 - now) })
        }
    }
}
