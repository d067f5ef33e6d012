import System
import Testing

@testable import Yap

/// A clock that stands still until it is moved.
private final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state = Lock(State())
    let (sleeps, continuation) = AsyncStream.makeStream(of: Void.self)

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (sleeper: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if state.now >= deadline { return .success(()) }
                    state.sleepers[id] = (deadline, sleeper)
                    return nil
                }
                if let result { sleeper.resume(with: result) } else { continuation.yield() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for sleeper in due { sleeper.resume() }
    }
}

/// Observations that leave out values, or wait between two reads.
struct ObservationPaceTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let clock = ManualClock()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    private func set(_ title: String, _ key: String = "1") async throws {
        try await database.newConnection().readWrite { try $0.set(title, key) }
    }

    /// The values of an observation as they come; the task iterates it.
    private func values<Value: Sendable>(
        _ observation: YapDatabaseObservation<Value>
    ) -> (values: AsyncStream<Value>.Iterator, task: Task<Void, any Error>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let task = Task {
            for try await value in observation { continuation.yield(value) }
            continuation.finish()
        }
        return (stream.makeAsyncIterator(), task)
    }

    @Test func aValueThatEqualsTheOneBeforeIsLeftOut() async throws {
        let reads = Log()
        let counts = connection.observe { transaction in
            let count = try transaction.numberOfKeys(inCollection: "todos")
            reads.add("\(count)")
            return count
        }.removingDuplicates()
        var (values, task) = values(counts)
        #expect(await values.next() == 0)
        try await set("a")
        #expect(await values.next() == 1)
        try await set("b")
        await reads.has(3)
        try await set("c", "2")
        #expect(await values.next() == 2)
        #expect(reads.lines == ["0", "1", "1", "2"])
        task.cancel()
    }

    @Test func readsAreAtLeastAnIntervalApartAndTheLastValueComes() async throws {
        let titles = connection.observe { try $0.todo("1")?.title ?? "-" }
            .atMostEvery(.milliseconds(250), clock: clock)
        var (values, task) = values(titles)
        var sleeps = clock.sleeps.makeAsyncIterator()
        #expect(await values.next() == "-")
        try await set("a")
        await sleeps.next()
        try await set("b")
        clock.advance(by: .milliseconds(249))
        try await set("c")
        clock.advance(by: .milliseconds(1))
        #expect(await values.next() == "c")
        // After a longer time the next value comes at once.
        clock.advance(by: .milliseconds(250))
        try await set("d")
        #expect(await values.next() == "d")
        task.cancel()
    }

    @Test func aPauseEndsWithTheTaskAndWithTheDatabase() async throws {
        let titles = connection.observe { try $0.todo("1")?.title }
            .removingDuplicates().atMostEvery(.seconds(1), clock: clock)
        let seen = Log()
        var sleeps = clock.sleeps.makeAsyncIterator()
        let cancelled = Task { for try await title in titles { seen.add(title ?? "-") } }
        await seen.has(1)
        try await set("a")
        await sleeps.next()
        cancelled.cancel()
        try await cancelled.value
        let closed = Task { for try await title in titles { seen.add(title ?? "-") } }
        await seen.has(2)
        try await set("b")
        await sleeps.next()
        try await database.close()
        clock.advance(by: .seconds(1))
        try await closed.value
        #expect(seen.lines == ["-", "a"])
    }
}
