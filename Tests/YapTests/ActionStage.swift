import FoundationEssentials
import System

@testable import Yap

/// An object with the actions that a test gives it.
struct Job: Codable, Sendable, Equatable, YapDatabaseActionSource {
    struct Item: Codable, Sendable, Equatable {
        var identifier = "run"
        /// Seconds after the stage's beginning.
        var at: Double
        var retry = 60.0
        var network = false
    }

    var items: [Item]
    var note = ""

    init(_ items: [Item]) { self.items = items }
    init(at: Double, retry: Double = 60, network: Bool = false) {
        items = [Item(at: at, retry: retry, network: network)]
    }

    var actions: [YapDatabaseAction] {
        items.map {
            YapDatabaseAction(
                $0.identifier, at: ActionStage.start.addingTimeInterval($0.at), retryAfterSeconds: $0.retry,
                requiresNetwork: $0.network)
        }
    }
}

typealias JobManager = YapDatabaseActionManager<Job>
typealias JobRunner = YapDatabaseActionRunner<Job>

/// A database with jobs, and a clock that the test moves.
final class ActionStage: Sendable {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
    let timers: ManualTimerSource
    let manager: JobManager

    init(
        _ folder: TestFolder, _ manager: JobManager = ActionStage.manager(),
        busyTimeoutMilliseconds: Int32 = 5000
    ) throws {
        (self.folder, self.manager) = (folder, manager)
        database = try Self.open(folder, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        connection = database.newConnection()
        timers = ManualTimerSource(clock: clock)
        try database.blocking.register(manager)
    }

    convenience init() throws { try self.init(TestFolder()) }

    static func manager(version: String = "1") -> JobManager {
        JobManager("jobs", of: Job.self, in: "jobs", version: version)
    }

    static func open(_ folder: TestFolder, busyTimeoutMilliseconds: Int32 = 5000) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        return try folder.open(options) { $0.register(Job.self, inCollection: "jobs") }
    }

    func set(_ jobs: [(String, Job)]) throws {
        try connection.blocking.readWrite { transaction in
            for (key, job) in jobs { try transaction.setObject(job, forKey: key, inCollection: "jobs") }
        }
    }

    func remove(_ key: String) throws {
        try connection.blocking.readWrite { try $0.removeObject(forKey: key, inCollection: "jobs") }
    }

    func runner(_ runningMax: Int = 4) -> JobRunner {
        JobRunner(manager, in: database, runningMax: runningMax, clock: clock, timers: timers)
    }

    /// Moves the clock and runs the timers that are due.
    @discardableResult
    func advance(_ seconds: Double) -> Int {
        clock.advance(bySeconds: seconds)
        return timers.runDue()
    }

    /// The keys with their next starts, in seconds after the beginning.
    func table() throws -> [String] {
        try connection.blocking.read { try $0[manager].actions(limit: 1000) }.map(Self.line)
    }

    static func line(_ action: YapDatabaseScheduledAction) -> String {
        "\(action.id.key)/\(action.id.identifier) \(Int(action.nextStart.timeIntervalSince(start).rounded()))"
    }
}

extension YapDatabaseActionRunner {
    /// The first status, from now on, that a condition finds.
    @discardableResult
    func status(where condition: (YapDatabaseActionStatus) -> Bool) async -> YapDatabaseActionStatus {
        for await status in statuses where condition(status) { return status }
        return status
    }

    /// The status when nothing runs and the runner waits for `obstacle`.
    @discardableResult
    func idle(_ obstacle: YapDatabaseActionStatus.Obstacle?) async -> YapDatabaseActionStatus {
        await status { $0.running.isEmpty && $0.obstacle == obstacle }
    }
}

/// A handler's calls. Each waits until the test lets it end.
final class Work: Sendable {
    private struct State {
        var running: [String: [CheckedContinuation<Void, Never>]] = [:]
        var released: [String: Int] = [:]
        var activeCount = 0
        var activeMax = 0
    }

    private let state = Lock(State())
    let starts: AsyncStream<YapDatabaseStartedAction<Job>>
    private let continuation: AsyncStream<YapDatabaseStartedAction<Job>>.Continuation

    init() { (starts, continuation) = AsyncStream.makeStream(of: YapDatabaseStartedAction<Job>.self) }

    /// Maximum number of calls at once.
    var activeMax: Int { state.withLock { $0.activeMax } }

    func start(_ action: YapDatabaseStartedAction<Job>) {
        state.withLock { state in
            state.activeCount += 1
            state.activeMax = max(state.activeMax, state.activeCount)
        }
        continuation.yield(action)
    }

    func end() { state.withLock { $0.activeCount -= 1 } }

    /// Waits for `release(_:)` of the action's key. Cancellation doesn't end it.
    func wait(_ action: YapDatabaseStartedAction<Job>) async {
        start(action)
        defer { end() }
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if let count = state.released[action.key], count > 0 {
                    state.released[action.key] = count - 1
                    return true
                }
                state.running[action.key, default: []].append(continuation)
                return false
            }
            if isReleased { continuation.resume() }
        }
    }

    func release(_ key: String) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.running[key]?.isEmpty == false { return state.running[key]?.removeFirst() }
            state.released[key, default: 0] += 1
            return nil
        }
        continuation?.resume()
    }

    /// The keys of the next calls.
    func next(_ count: Int) async -> [String] {
        var keys: [String] = []
        for await action in starts {
            keys.append(action.key)
            if keys.count == count { break }
        }
        return keys
    }
}
