import CloudService
import CloudWire
import System

/// A service, and how its files are closed when it is no longer used.
struct OpenedService: Sendable {
    let service: CloudService
    let close: @Sendable () -> Void
    /// Called for pending pushes, beside the courier.
    var pushesReady: @Sendable ([String]) -> Void = { _ in }
}

/// A served environment of a container.
final class OpenEnvironment: Sendable {
    /// Its number in the table. It stays the same after the environment is closed and reopened.
    let number: Int
    let container: CloudService.Container
    let thread: CloudServiceThread
    private let opened: OpenedService
    var service: CloudService { opened.service }

    init(
        number: Int, container: CloudService.Container, _ opened: OpenedService,
        pushesReady: @escaping @Sendable ([String]) -> Void,
        webhooksReady: @escaping @Sendable (_ abandonedCount: Int) -> Void,
        pruned: @escaping @Sendable (PrunedCounts) -> Void
    ) {
        self.number = number
        self.container = container
        self.opened = opened
        // Before the thread starts, which reports what an earlier process left.
        opened.service.setPushListener { apnsTokens in
            pushesReady(apnsTokens)
            opened.pushesReady(apnsTokens)
        }
        opened.service.webhooks.setListener(webhooksReady)
        opened.service.setPruneListener(pruned)
        thread = CloudServiceThread(opened.service)
    }

    /// Answers the pending requests, ends the thread and closes the files.
    func close() {
        thread.stop()
        opened.service.setPushListener(nil)
        opened.service.webhooks.setListener(nil)
        opened.service.setPruneListener(nil)
        opened.close()
    }
}

/// The open environments. The first request for an environment opens it. Opening and closing block, so they run on a
/// thread of their own. Another thread first checks that the container exists, so that requests for missing ones don't
/// block the others. On both threads, clients take turns by their network.
///
/// When too many are open, the least recently used idle one is closed.
final class EnvironmentTable: ThreadOwner {
    /// Makes the service of an environment, or returns nil if the container doesn't exist. May block.
    typealias Opener = @Sendable (CloudService.Container) throws -> OpenedService?
    /// Returns true if the container exists. May block for a look-up in a file.
    typealias Finder = @Sendable (CloudService.Container) throws -> Bool
    /// Receives an environment, which must be passed to `release`, or the error to respond with.
    typealias User = @Sendable (Result<OpenEnvironment, WireError>) -> Void

    private enum Stage {
        case opening
        case open(OpenEnvironment)
        case closing
    }

    private struct Slot {
        var stage: Stage
        var waiting: [User] = []
        /// The addresses waiting for their turn. The first turn opens it for all.
        var addresses: Set<String> = []
        /// Bytes of their bodies.
        var waitingBytes = 0
        /// True if it is queued to be opened.
        var isQueued = false
        var usesCount = 0
        var lastUse: UInt64 = 0
    }

    private struct State {
        var slots: [CloudService.Container: Slot] = [:]
        var numbers: [CloudService.Container: Int] = [:]
        var usesCount: UInt64 = 0
        /// Bytes of all bodies waiting for an environment to open.
        var waitingBytes = 0
        var isStopped = false
        /// Containers being removed. Requests for them are rejected.
        var isRemoved: @Sendable (CloudService.Container) -> Bool = { _ in false }
    }

    /// Maximum requests waiting for an environment to open.
    static let waitingMax = 1_024
    /// Maximum bytes of their bodies, over all environments. Opening takes milliseconds.
    static let waitingBytesMax = 64 << 20
    /// Maximum queued look-ups of containers. They are short.
    static let lookUpsMax = 4_096
    /// A client network may take this fraction of the free places in each queue.
    private static let sharesCount = 8

    private let openMax: Int
    private let strangers: AddressRate?
    private let clock: any TimeSource
    private let finder: Finder
    private let opener: Opener
    private let courier: Courier
    private let webhooks: WebhookSender
    /// Numbers of rows pruned by the upkeep of all environments.
    let prunedCounts = Lock(PrunedCounts())
    private let state = Lock(State())
    private let lookUps = FairWorker(jobsMax: lookUpsMax, sharesCount: sharesCount)
    private let openings = FairWorker(jobsMax: waitingMax, sharesCount: sharesCount)

    /// - Parameter strangers: counts requests for missing containers by address, or nil to count none.
    init(
        openMax: Int, strangers: AddressRate? = nil, clock: any TimeSource = SystemTimeSource(),
        finder: @escaping Finder = { _ in true }, opener: @escaping Opener, courier: Courier,
        webhooks: WebhookSender
    ) {
        self.openMax = openMax
        self.strangers = strangers
        self.clock = clock
        self.finder = finder
        self.opener = opener
        self.courier = courier
        self.webhooks = webhooks
    }

    /// Starts the two threads. They live until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try lookUps.start(start)
        try openings.start(start)
    }

    /// Number of open environments.
    var openCount: Int {
        state.withLock { state in
            state.slots.values.reduce(0) { count, slot in
                if case .open = slot.stage { count + 1 } else { count }
            }
        }
    }

    /// Passes the environment to `user`, at once if it is open, and otherwise on a thread of the table. A request for a
    /// missing container counts for the client's address, and is rejected if there were too many.
    ///
    /// - Parameters:
    ///   - peer: the client's address, or empty for the server itself.
    ///   - bodyBytes: bytes of the waiting request's body.
    func use(
        _ container: CloudService.Container, from peer: String = "", bodyBytes: Int = 0,
        _ user: @escaping User
    ) {
        use(container, from: peer, bodyBytes) { [strangers, clock] result in
            guard case .failure(let error) = result, error.serverErrorCode == .notFound, !peer.isEmpty,
                let refusal = strangers?.refusal(of: peer, atMilliseconds: clock.nowMilliseconds())
            else { return user(result) }
            user(.failure(refusal))
        }
    }

    private func use(
        _ container: CloudService.Container, from peer: String, _ bodyBytes: Int, _ user: @escaping User
    ) {
        enum Found {
            case open(OpenEnvironment)
            case mustOpen(isFirst: Bool)
            case waits
            case refused(WireError)
        }
        let found: Found = state.withLock { state in
            guard !state.isStopped else { return .refused(Refusal.stopping) }
            guard !state.isRemoved(container) else { return .refused(Refusal.removed(container)) }
            state.usesCount += 1
            let isRoom = state.waitingBytes + bodyBytes <= Self.waitingBytesMax
            guard var slot = state.slots[container] else {
                guard isRoom else { return .refused(Refusal.busy) }
                state.waitingBytes += bodyBytes
                state.slots[container] = Slot(
                    stage: .opening, waiting: [user], addresses: [peer], waitingBytes: bodyBytes)
                return .mustOpen(isFirst: true)
            }
            defer { state.slots[container] = slot }
            slot.lastUse = state.usesCount
            guard case .open(let environment) = slot.stage else {
                guard slot.waiting.count < Self.waitingMax, isRoom else { return .refused(Refusal.busy) }
                state.waitingBytes += bodyBytes
                slot.waitingBytes += bodyBytes
                slot.waiting.append(user)
                guard case .opening = slot.stage, slot.addresses.insert(peer).inserted else { return .waits }
                return .mustOpen(isFirst: false)
            }
            slot.usesCount += 1
            return .open(environment)
        }
        switch found {
        case .open(let environment): user(.success(environment))
        case .refused(let error): user(.failure(error))
        case .waits: break
        case .mustOpen(let isFirst):
            // Without a place for this address's turn, the first address's turn opens it.
            let isTaken = lookUps.submit(of: peer) { [self] in look(container, from: peer) }
            if !isTaken, isFirst { answer(container, .failure(Refusal.busy)) }
        }
    }

    /// Releases an environment.
    func release(_ environment: OpenEnvironment) {
        state.withLock { $0.slots[environment.container]?.usesCount -= 1 }
    }

    /// Rejects requests for environments being removed, and closes the idle ones.
    ///
    /// - Returns: the environments that were closed.
    @discardableResult
    func remove(
        where isRemoved: @escaping @Sendable (CloudService.Container) -> Bool
    ) -> [CloudService.Container] {
        // The previous closure is released after the lock. `isRemoved` itself only compares names.
        let (environments, _) = state.withLock { state in
            let before = state.isRemoved
            state.isRemoved = isRemoved
            let environments = state.slots.compactMap { container, slot -> OpenEnvironment? in
                guard isRemoved(container), slot.usesCount == 0, case .open(let environment) = slot.stage
                else { return nil }
                state.slots[container]?.stage = .closing
                return environment
            }
            return (environments, before)
        }
        for environment in environments {
            if !openings.submitOwed({ [self] in close(environment) }) { close(environment) }
        }
        return environments.map(\.container)
    }

    private func close(_ environment: OpenEnvironment) {
        environment.close()
        let container = environment.container
        let isWaitedFor = state.withLock { state in
            guard let slot = state.slots[container], !slot.waiting.isEmpty else {
                state.slots[container] = nil
                return false
            }
            state.slots[container]?.stage = .opening
            state.slots[container]?.isQueued = true
            return true
        }
        // Requests that arrived meanwhile reopen it.
        if isWaitedFor, !openings.submit(of: "", { [self] in open(container) }) {
            answer(container, .failure(Refusal.busy))
        }
    }

    /// Answers the pending requests, ends the services' threads and closes their files. No environment is opened from
    /// then on.
    func stop() {
        state.withLock { $0.isStopped = true }
        lookUps.stop()
        openings.stop()
        // The slots, with their waiting requests, are released after the lock.
        let slots = state.withLock { state in
            defer { state.slots = [:] }
            return state.slots
        }
        let environments = slots.values.compactMap { slot in
            if case .open(let environment) = slot.stage { environment } else { nil }
        }
        for environment in environments.sorted(by: { $0.number < $1.number }) { environment.close() }
    }

    // MARK: On the thread of the look-ups

    private func look(_ container: CloudService.Container, from peer: String) {
        guard isToBeOpened(container) else { return }
        do {
            guard try finder(container) else {
                return answer(container, .failure(Refusal.noSuchContainer(container)))
            }
            let isTaken = openings.submit(of: peer) { [self] in open(container) }
            let isQueued = state.withLock { state in
                if isTaken { state.slots[container]?.isQueued = true }
                return state.slots[container]?.isQueued ?? true
            }
            if !isQueued { answer(container, .failure(Refusal.busy)) }
        } catch {
            answer(container, .failure(Refusal.cannotOpen(error)))
        }
    }

    /// Returns true if no other address's turn has opened it, or found that it can't be opened.
    private func isToBeOpened(_ container: CloudService.Container) -> Bool {
        state.withLock { Self.isOpening($0.slots[container]) }
    }

    private static func isOpening(_ slot: Slot?) -> Bool {
        if case .opening = slot?.stage { true } else { false }
    }

    // MARK: On the thread of the openings

    private func open(_ container: CloudService.Container) {
        guard isToBeOpened(container) else { return }
        do {
            guard let opened = try opener(container) else {
                return answer(container, .failure(Refusal.noSuchContainer(container)))
            }
            // Not earlier, because a request for an environment that can't be opened must not close another
            // one.
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
                }, webhooksReady: { [webhooks] in webhooks.hear(of: container, abandonedCount: $0) },
                pruned: { [self] pruned in prunedCounts.withLock { $0 += pruned } })
            answer(container, .success(environment))
        } catch {
            answer(container, .failure(Refusal.cannotOpen(error)))
        }
    }

    /// Passes the result to all requests that wait for the environment.
    private func answer(_ container: CloudService.Container, _ result: Result<OpenEnvironment, WireError>) {
        let waiting = state.withLock { state -> [User] in
            let waiting = state.slots[container]?.waiting ?? []
            let waitingBytes = state.slots[container]?.waitingBytes ?? 0
            switch result {
            // Another address's turn has opened it in the meantime, for all waiting requests.
            case .failure where !Self.isOpening(state.slots[container]): return []
            case .success(let environment):
                state.slots[container] = Slot(
                    stage: .open(environment), usesCount: waiting.count, lastUse: state.usesCount)
            case .failure:
                state.slots[container] = nil
            }
            state.waitingBytes -= waitingBytes
            return waiting
        }
        for user in waiting { user(result) }
    }

    /// Closes the least recently used environment if there are too many. Returns false if all are in use.
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
        close(oldest)
        return isRoom
    }
}
