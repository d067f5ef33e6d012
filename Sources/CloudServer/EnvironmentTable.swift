import CloudService
import CloudWire
import Seams

/// A service, and how its files are closed when nobody asks it any more.
struct OpenedService: Sendable {
    let service: CloudService
    let close: @Sendable () -> Void
}

/// An environment of a container that is being served.
final class OpenEnvironment: Sendable {
    /// Its number in the table; stays the same when it is closed and opened again.
    let number: Int
    let container: CloudService.Container
    let thread: CloudServiceThread
    private let opened: OpenedService
    var service: CloudService { opened.service }

    init(
        number: Int, container: CloudService.Container, _ opened: OpenedService,
        pushesReady: @escaping @Sendable ([String]) -> Void,
        webhooksReady: @escaping @Sendable (_ abandonedCount: Int) -> Void
    ) {
        self.number = number
        self.container = container
        self.opened = opened
        // Before the thread is there, which tells of what was left from before.
        opened.service.setPushListener(pushesReady)
        opened.service.setWebhookListener(webhooksReady)
        thread = CloudServiceThread(opened.service)
    }

    /// Answers what has come in, ends the thread and closes the files.
    func close() {
        thread.stop()
        opened.service.setPushListener(nil)
        opened.service.setWebhookListener(nil)
        opened.close()
    }
}

/// The environments that are open, each opened by the first request for it. Opening and closing block, so they have
/// a thread of their own. When too many are open, the one that was used longest ago and that nobody uses is closed.
final class EnvironmentTable: Sendable {
    /// Makes the service of an environment, or nil when there is no such container. May block.
    typealias Opener = @Sendable (CloudService.Container) throws -> OpenedService?
    /// Takes an environment, to be given back with `release`, or the error to answer with.
    typealias User = @Sendable (Result<OpenEnvironment, WireError>) -> Void

    private enum Stage {
        case opening
        case open(OpenEnvironment)
        case closing
    }

    private struct Slot {
        var stage: Stage
        var waiting: [User] = []
        var usesCount = 0
        var lastUse: UInt64 = 0
    }

    private struct State {
        var slots: [CloudService.Container: Slot] = [:]
        var numbers: [CloudService.Container: Int] = [:]
        var usesCount: UInt64 = 0
        var isStopped = false
    }

    /// Requests that wait until an environment is open.
    static let waitingMax = 1_024

    private let openMax: Int
    private let opener: Opener
    private let courier: Courier
    private let webhooks: WebhookSender
    private let state = Lock(State())
    private let worker = Worker(jobsMax: waitingMax)

    init(openMax: Int, opener: @escaping Opener, courier: Courier, webhooks: WebhookSender) {
        self.openMax = openMax
        self.opener = opener
        self.courier = courier
        self.webhooks = webhooks
    }

    /// How many are open.
    var openCount: Int {
        state.withLock { state in
            state.slots.values.reduce(0) { count, slot in
                if case .open = slot.stage { count + 1 } else { count }
            }
        }
    }

    /// Gives the environment to `user`, at once when it is open, else from the table's thread.
    func use(_ container: CloudService.Container, _ user: @escaping User) {
        enum Found {
            case open(OpenEnvironment)
            case mustOpen
            case waits
            case refused(WireError)
        }
        let found: Found = state.withLock { state in
            guard !state.isStopped else { return .refused(Refusal.stopping) }
            state.usesCount += 1
            guard var slot = state.slots[container] else {
                state.slots[container] = Slot(stage: .opening, waiting: [user])
                return .mustOpen
            }
            defer { state.slots[container] = slot }
            slot.lastUse = state.usesCount
            guard case .open(let environment) = slot.stage else {
                guard slot.waiting.count < Self.waitingMax else { return .refused(Refusal.busy) }
                slot.waiting.append(user)
                return .waits
            }
            slot.usesCount += 1
            return .open(environment)
        }
        switch found {
        case .open(let environment): user(.success(environment))
        case .refused(let error): user(.failure(error))
        case .waits: break
        case .mustOpen:
            if !worker.submit({ [self] in open(container) }) { answer(container, .failure(Refusal.busy)) }
        }
    }

    /// Gives an environment back.
    func release(_ environment: OpenEnvironment) {
        state.withLock { $0.slots[environment.container]?.usesCount -= 1 }
    }

    /// Answers what the services have taken in, ends their threads and closes their files. Nothing is opened from now
    /// on.
    func stop() {
        state.withLock { $0.isStopped = true }
        worker.stop()
        let environments = state.withLock { state in
            let environments = state.slots.values.compactMap { slot in
                if case .open(let environment) = slot.stage { environment } else { nil }
            }
            state.slots = [:]
            return environments
        }
        for environment in environments.sorted(by: { $0.number < $1.number }) { environment.close() }
    }

    // MARK: On the worker

    private func open(_ container: CloudService.Container) {
        do {
            guard let opened = try opener(container) else {
                return answer(container, .failure(Refusal.noSuchContainer(container)))
            }
            // Not before: who asks for what isn't there, or can't be opened, closes nobody else's.
            guard makeRoom() else {
                opened.close()
                return answer(container, .failure(Refusal.busy))
            }
            let number = state.withLock { state in
                let number = state.numbers[container] ?? state.numbers.count
                state.numbers[container] = number
                return number
            }
            let environment = OpenEnvironment(
                number: number, container: container, opened,
                pushesReady: { [self, courier] apnsTokens in
                    courier.pushesReady(environment: number, apnsTokens: apnsTokens, in: self)
                }, webhooksReady: { [webhooks] in webhooks.hear(of: container, abandonedCount: $0) })
            answer(container, .success(environment))
        } catch {
            // Which file it was is the operator's business; the log of the server has it.
            answer(container, .failure(Refusal.cannotOpen))
        }
    }

    /// Ends the wait of all who wait for the environment.
    private func answer(_ container: CloudService.Container, _ result: Result<OpenEnvironment, WireError>) {
        let waiting = state.withLock { state in
            let waiting = state.slots[container]?.waiting ?? []
            switch result {
            case .success(let environment):
                state.slots[container] = Slot(
                    stage: .open(environment), usesCount: waiting.count, lastUse: state.usesCount)
            case .failure:
                state.slots[container] = nil
            }
            return waiting
        }
        for user in waiting { user(result) }
    }

    /// Closes the environment that was used longest ago, if there are too many. False when all are in use.
    private func makeRoom() -> Bool {
        let (oldest, isRoom) = state.withLock { state -> (OpenEnvironment?, Bool) in
            var openCount = 0
            var oldest: (lastUse: UInt64, environment: OpenEnvironment)?
            for slot in state.slots.values {
                guard case .open(let environment) = slot.stage else { continue }
                openCount += 1
                guard slot.usesCount == 0, slot.lastUse < oldest?.lastUse ?? .max else { continue }
                oldest = (slot.lastUse, environment)
            }
            guard openCount >= openMax else { return (nil, true) }
            guard let environment = oldest?.environment else { return (nil, false) }
            state.slots[environment.container]?.stage = .closing
            return (environment, true)
        }
        guard let oldest else { return isRoom }
        oldest.close()
        let isWaitedFor = state.withLock { state in
            guard let slot = state.slots[oldest.container], !slot.waiting.isEmpty else {
                state.slots[oldest.container] = nil
                return false
            }
            state.slots[oldest.container]?.stage = .opening
            return true
        }
        // Whoever came while it closed gets it again.
        if isWaitedFor, !worker.submit({ [self] in open(oldest.container) }) {
            answer(oldest.container, .failure(Refusal.busy))
        }
        return isRoom
    }
}
