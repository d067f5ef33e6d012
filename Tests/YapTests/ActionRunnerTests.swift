import FoundationEssentials
import SQLite
import System
import Testing

@testable import Yap

/// `YapDatabaseActionRunner`: actions run when they are due.
@Suite struct ActionRunnerTests {
    private let stage: ActionStage
    private let work = Work()

    init() throws { stage = try ActionStage() }

    /// Runs the actions while `body` runs, and waits for the end.
    private func running(
        _ runner: JobRunner, _ handler: @escaping JobRunner.Handler, _ body: () async throws -> Void
    ) async throws {
        let task = Task { try await runner.run(handler) }
        defer { task.cancel() }
        try await body()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(runner.status.obstacle == .notRunning)
    }

    /// A handler that is done at once, and removes the object.
    private var removing: JobRunner.Handler {
        let (work, stage) = (work, stage)
        return { action in
            work.start(action)
            defer { work.end() }
            try await stage.database.newConnection().readWrite {
                try $0.removeObject(forKey: action.key, inCollection: "jobs")
            }
        }
    }

    /// A handler that does nothing.
    private var idling: JobRunner.Handler {
        let work = work
        return { action in
            work.start(action)
            work.end()
        }
    }

    private var waiting: JobRunner.Handler {
        let work = work
        return { action in await work.wait(action) }
    }

    @Test func actionsRunInTheOrderOfTheirDates() async throws {
        try stage.set([("a", Job(at: 30)), ("b", Job(at: 10)), ("c", Job(at: 20)), ("d", Job(at: 1000))])
        stage.clock.advance(bySeconds: 100)
        let runner = stage.runner(1)
        #expect(runner.status.obstacle == .notRunning)
        try await running(runner, removing) {
            #expect(await work.next(3) == ["b", "c", "a"])
            let status = await runner.idle(.date)
            #expect(status.next.map(ActionStage.line) == "d/run 1000")
            #expect(stage.advance(899.999) == 0)
            #expect(stage.advance(0.001) == 1)
            #expect(await work.next(1) == ["d"])
            await runner.idle(nil)
        }
        #expect(work.activeMax == 1)
        #expect(stage.timers.nextDueMilliseconds == nil)
    }

    @Test func anActionRunsAgainAfterItsRetryTimeUntilTheObjectNoLongerHasIt() async throws {
        try stage.set([("a", Job(at: 0, retry: 30))])
        let runner = stage.runner()
        try await running(runner, idling) {
            for round in 1...3 {
                #expect(await work.next(1) == ["a"])
                let status = await runner.idle(.date)
                #expect(status.next.map(ActionStage.line) == "a/run \(round * 30)")
                #expect(stage.advance(29.999) == 0)
                if round < 3 { #expect(stage.advance(0.001) == 1) }
            }
            // Another write of an object that still has it changes nothing.
            var job = Job(at: 0, retry: 30)
            job.note = "x"
            try stage.set([("a", job)])
            #expect(try stage.table() == ["a/run 90"])
            try stage.set([("a", Job([]))])
            await runner.idle(nil)
            #expect(stage.advance(100) == 0)
        }
    }

    @Test func anActionThatEndsWhileItRunsIsNeitherCancelledNorRunAgain() async throws {
        try stage.set([("a", Job(at: 0, retry: 5))])
        let runner = stage.runner()
        try await running(runner, waiting) {
            #expect(await work.next(1) == ["a"])
            try stage.remove("a")
            await runner.status { $0.next == nil && $0.snapshot >= stage.database.snapshot }
            #expect(runner.status.running.map(\.key) == ["a"])
            stage.advance(100)
            work.release("a")
            await runner.idle(nil)
            // The object comes back, as another row.
            try stage.set([("a", Job(at: 50))])
            #expect(await work.next(1) == ["a"])
            work.release("a")
        }
    }

    @Test func anActionIsNotStartedTwiceAtOnce() async throws {
        try stage.set([("a", Job(at: 0, retry: 5)), ("b", Job(at: 20))])
        let runner = stage.runner()
        try await running(runner, waiting) {
            #expect(await work.next(1) == ["a"])
            await runner.status { $0.next?.id.key == "b" }
            // Its retry time is over, and its object is set again with another date.
            stage.advance(20)
            #expect(await work.next(1) == ["b"])
            try stage.set([("a", Job(at: 1))])
            await runner.status { $0.snapshot >= stage.database.snapshot }
            #expect(runner.status.running.map(\.key) == ["a", "b"])
            // Then it is due at once.
            work.release("a")
            #expect(await work.next(1) == ["a"])
            work.release("a")
            work.release("b")
            await runner.idle(.date)
        }
        #expect(work.activeMax == 2)
    }

    @Test func nothingStartsWhileSuspended() async throws {
        let runner = stage.runner()
        #expect(runner.suspend() == 1 && runner.suspend() == 2)
        try stage.set([("a", Job(at: 0))])
        try await running(runner, removing) {
            let status = await runner.status { $0.obstacle == .suspended }
            #expect(status.next?.id.key == "a")
            #expect(runner.resume() == 1)
            stage.advance(10)
            #expect(runner.status.obstacle == .suspended && runner.status.running.isEmpty)
            #expect(runner.resume() == 0)
            #expect(await work.next(1) == ["a"])
            await runner.idle(nil)
            #expect(runner.resume() == 0 && runner.suspend() == 1)
        }
    }

    @Test func actionsThatRequireTheNetworkWaitForIt() async throws {
        try stage.set([("online", Job(at: 0, network: true)), ("local", Job(at: 1)), ("later", Job(at: 9))])
        stage.clock.advance(bySeconds: 5)
        let runner = stage.runner(1)
        runner.isReachable = false
        try await running(runner, removing) {
            #expect(await work.next(1) == ["local"])
            let status = await runner.idle(.network)
            #expect(status.next?.id.key == "online" && status.next?.requiresNetwork == true)
            // Those that don't require it are not held up.
            #expect(stage.advance(4) == 1)
            #expect(await work.next(1) == ["later"])
            await runner.idle(.network)
            runner.isReachable = true
            #expect(await work.next(1) == ["online"])
            await runner.idle(nil)
        }
    }

    @Test func aChangedDateCounts() async throws {
        try stage.set([("earlier", Job(at: 1000)), ("later", Job(at: 10))])
        let runner = stage.runner()
        try await running(runner, removing) {
            await runner.idle(.date)
            try stage.set([("earlier", Job(at: -5))])
            #expect(await work.next(1) == ["earlier"])
            await runner.status { $0.running.isEmpty && $0.next?.id.key == "later" }
            try stage.set([("later", Job(at: 20))])
            await runner.status { $0.snapshot >= stage.database.snapshot }
            #expect(stage.advance(19) == 0)
            #expect(stage.advance(1) == 1)
            #expect(await work.next(1) == ["later"])
            await runner.idle(nil)
        }
    }

    @Test func anErrorIsKeptAndTheActionRunsAgain() async throws {
        try stage.set([("a", Job(at: 0, retry: 10))])
        let runner = stage.runner()
        let (work, fails) = (work, Lock(true))
        try await running(runner) { action in
            work.start(action)
            defer { work.end() }
            if fails.withLock({ $0 }) { throw Refused() }
        } _: {
            #expect(await work.next(1) == ["a"])
            let status = await runner.idle(.date)
            #expect(status.lastFailure?.id.key == "a" && status.lastFailure?.error is Refused)
            fails.withLock { $0 = false }
            stage.advance(10)
            #expect(await work.next(1) == ["a"])
        }
    }

    @Test func anObjectThatCannotBeReadHoldsUpNoOther() async throws {
        try stage.set([("bad", Job(at: 0)), ("good", Job(at: 1))])
        stage.clock.advance(bySeconds: 5)
        try await stage.connection.readWrite {
            try $0.sqlite.execute("UPDATE database2 SET data = x'ff' WHERE key = 'bad'")
        }
        try await stage.database.close()
        var options = YapDatabaseOptions()
        options.checksStoredObjects = false
        let database = try stage.folder.open(options) { $0.register(Job.self, inCollection: "jobs") }
        try await database.register(stage.manager)
        let runner = JobRunner(
            stage.manager, in: database, runningMax: 1, clock: stage.clock, timers: stage.timers)
        try await running(runner, idling) {
            #expect(await work.next(1) == ["good"])
            let status = await runner.idle(.date)
            #expect((status.lastFailure?.error as? YapDatabaseError)?.code == .decoding)
            #expect(status.lastFailure?.id.key == "bad")
        }
    }

    @Test func cancellingCancelsHandlersAndWaitsForThem() async throws {
        try stage.set([("a", Job(at: 0)), ("b", Job(at: 50))])
        let runner = stage.runner()
        let (work, ended) = (work, Lock(false))
        let task = Task {
            try await runner.run { action in
                work.start(action)
                // Ends only when it is cancelled.
                await Self.waitForCancellation()
                ended.withLock { $0 = Task.isCancelled }
                try Task.checkCancellation()
            }
        }
        #expect(await work.next(1) == ["a"])
        await runner.status { $0.next?.id.key == "b" }
        await #expect(throws: YapDatabaseError.self) { try await runner.run { _ in } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ended.withLock { $0 })
        #expect(runner.status.lastFailure == nil && runner.status.running.isEmpty)
        #expect(stage.timers.nextDueMilliseconds == nil)
        // It can run again; the cancelled action waits for its retry.
        try await running(runner, idling) {
            await runner.idle(.date)
            let table = try stage.table()
            #expect(table == ["b/run 50", "a/run 60"])
        }
    }

    /// Waits until the task is cancelled.
    private static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        continuation.finish()
    }

    @Test func closingTheDatabaseEndsTheRun() async throws {
        try stage.set([("a", Job(at: 10))])
        let runner = stage.runner()
        let task = Task { try await runner.run { _ in } }
        await runner.idle(.date)
        try await stage.database.close()
        try await task.value
        await #expect(throws: YapDatabaseError.self) { try await runner.run { _ in } }
    }

    @Test func actionsThatAreNotRegisteredAreAnError() async throws {
        let other = JobManager("other", of: Job.self, in: "jobs", version: "1")
        await #expect(throws: YapDatabaseError.self) { try await stage.database.run(other) { _ in } }
        let runner = stage.runner()
        let task = Task { try await runner.run { _ in } }
        await runner.idle(nil)
        try await stage.database.unregister("jobs")
        await #expect(throws: YapDatabaseError.self) { try await task.value }
    }

    @Test func afterARestartAnActionWaitsForItsRetry() async throws {
        try stage.set([("a", Job(at: 0, retry: 40)), ("b", Job(at: 5))])
        let runner = stage.runner()
        try await running(runner, idling) {
            #expect(await work.next(1) == ["a"])
            await runner.idle(.date)
        }
        try await stage.database.close()
        let next = try ActionStage(stage.folder)
        next.clock.advance(bySeconds: 10)
        let nextRunner = next.runner()
        try await running(nextRunner, idling) {
            #expect(await work.next(1) == ["b"])
            let status = await nextRunner.status { $0.running.isEmpty && $0.next?.id.key == "a" }
            #expect(status.next.map(ActionStage.line) == "a/run 40")
            next.advance(30)
            #expect(await work.next(1) == ["a"])
        }
    }

    @Test func aClockThatWasAheadDelaysNoActionAfterARestart() async throws {
        try stage.set([("a", Job(at: 0)), ("future", Job(at: 1_000_000))])
        stage.clock.advance(bySeconds: 100_000)
        let runner = stage.runner()
        try await running(runner, idling) {
            #expect(await work.next(1) == ["a"])
            await runner.idle(.date)
        }
        stage.clock.advance(bySeconds: -99_000)
        try await running(runner, idling) {
            #expect(await work.next(1) == ["a"])
            await runner.idle(.date)
        }
        #expect(try stage.table() == ["a/run 1060", "future/run 1000000"])
    }

    @Test func thousandsOfDueActionsRunAFewAtATimeAndEachOnce() async throws {
        let count = 2_000
        try stage.set((0..<count).map { ("\($0)", Job(at: Double($0 % 7), retry: 1e6)) })
        stage.clock.advance(bySeconds: 10)
        let runner = stage.runner(5)
        try await running(runner, idling) {
            let keys = await work.next(count)
            #expect(Set(keys).count == count)
            await runner.idle(.date)
            #expect(stage.advance(1000) == 0)
        }
        #expect(work.activeMax <= 5)
    }

    @Test func asManyRunAtOnceAsAllowed() async throws {
        try stage.set((0..<5).map { ("\($0)", Job(at: Double($0))) })
        stage.clock.advance(bySeconds: 10)
        let runner = stage.runner(3)
        try await running(runner, waiting) {
            #expect(await work.next(3).sorted() == ["0", "1", "2"])
            let status = await runner.status { $0.obstacle == .runningMax }
            #expect(status.next?.id.key == "3" && status.running.count == 3)
            work.release("1")
            #expect(await work.next(1) == ["3"])
            for key in ["0", "2", "3", "4"] { work.release(key) }
            #expect(await work.next(1) == ["4"])
            await runner.idle(.date)
        }
        #expect(work.activeMax == 3)
    }

    @Test func anActionIsIdentifiedByCollectionKeyAndIdentifier() async throws {
        let items = ["x", "y", "\u{e9}", "e\u{301}"].map { Job.Item(identifier: $0, at: 0) }
        try stage.set([("a", Job(items)), ("b", Job(items))])
        let runner = stage.runner(20)
        try await running(runner, waiting) {
            _ = await work.next(8)
            let status = await runner.status { $0.running.count == 8 }
            #expect(Set(status.running).count == 8)
            #expect(status.running.filter { $0.key == "a" && $0.collection == "jobs" }.count == 4)
            for _ in 0..<4 { for key in ["a", "b"] { work.release(key) } }
            await runner.idle(.date)
        }
    }

    @Test func aCommitOfAnotherProcessWakesTheRunner() async throws {
        let other = try ActionStage(stage.folder)
        let runner = stage.runner()
        try await running(runner, idling) {
            await runner.idle(nil)
            try other.set([("a", Job(at: -1))])
            #expect(await work.next(1) == ["a"])
        }
    }

    @Test func aBusyFileIsTriedAgain() async throws {
        let stage = try ActionStage(TestFolder(), busyTimeoutMilliseconds: 0)
        try stage.set([("a", Job(at: 0))])
        let other = try Connection(path: stage.folder.file)
        try other.begin(.immediate)
        let runner = stage.runner()
        try await running(runner, idling) {
            await runner.idle(.database)
            try other.rollback()
            #expect(stage.advance(1) == 1)
            #expect(await work.next(1) == ["a"])
            await runner.idle(.date)
        }
    }

    @Test func twoProcessesDoNotStartAnActionAtOnce() async throws {
        let other = try ActionStage(stage.folder)
        try stage.set((0..<60).map { ("\($0)", Job(at: 0)) })
        let (first, second) = (stage.runner(), other.runner())
        try await running(first, idling) {
            try await running(second, idling) {
                let keys = await work.next(60)
                #expect(Set(keys).count == 60)
                await first.idle(.date)
                await second.idle(.date)
            }
        }
        #expect(try stage.table().allSatisfy { $0.hasSuffix(" 60") })
    }

    @Test func theSystemsTimersRunAndAreTakenBack() async throws {
        let timers = WallTimerSource()
        let (fired, continuation) = AsyncStream.makeStream(of: String.self)
        let cancel = timers.after(milliseconds: 5) { continuation.yield("cancelled") }
        cancel()
        cancel()
        timers.after(milliseconds: 20) { continuation.yield("fired") }
        for await line in fired {
            #expect(line == "fired")
            break
        }
        let far = timers.after(milliseconds: 86_400_000) {}
        far()
    }

    @Test func theShortFormRunsByTheMachinesClock() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: String.self)
        try stage.set([("a", Job(at: 0))])
        let (database, manager) = (stage.database, stage.manager)
        let task = Task {
            try await database.run(manager) { action in
                continuation.yield("\(action.key) \(action.identifier)")
            }
        }
        for await line in started {
            #expect(line == "a run")
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// A clock that does something each time it is read.
    private struct ReadClock: TimeSource {
        let clock: ManualTimeSource
        let onRead: @Sendable () -> Void

        func nowMilliseconds() -> Int64 {
            onRead()
            return clock.nowMilliseconds()
        }
    }

    @Test(arguments: 0..<4)
    func aDatabaseThatIsClosedWithinATurnEndsTheRunWithoutAnError(readsCount: Int) async throws {
        try stage.set([("a", Job(at: 0))])
        let (left, database) = (Lock(readsCount), stage.database)
        let clock = ReadClock(clock: stage.clock) {
            let isLast = left.withLock { left in
                left -= 1
                return left == -1
            }
            if isLast { try? database.blocking.close() }
        }
        let runner = JobRunner(
            stage.manager, in: database, runningMax: 1, clock: clock, timers: stage.timers)
        try await runner.run { _ in }
        #expect(database.isClosed)
        #expect(runner.status.obstacle == .notRunning)
        let error = await #expect(throws: YapDatabaseError.self) { try await runner.run { _ in } }
        #expect(error?.code == .closed)
    }

    @Test func aClockThatIsSetBackStallsNoActionLongerThanItsRetryTime() async throws {
        try stage.set([("a", Job(at: 0, retry: 60)), ("future", Job(at: 1_000_000))])
        let elapsed = ManualTimeSource(milliseconds: 0)
        let timers = ManualTimerSource(clock: elapsed)
        let runner = JobRunner(
            stage.manager, in: stage.database, runningMax: 4, clock: stage.clock, timers: timers)
        stage.clock.advance(bySeconds: 100_000)
        try await running(runner, idling) {
            #expect(await work.next(1) == ["a"])
            await runner.status { $0.running.isEmpty && $0.next.map(ActionStage.line) == "a/run 100060" }
            stage.clock.advance(bySeconds: -99_000)
            elapsed.advance(bySeconds: 60)
            #expect(timers.runDue() == 1)
            #expect(await work.next(1) == ["a"])
            await runner.status { $0.running.isEmpty && $0.next.map(ActionStage.line) == "a/run 1060" }
            // Clocks are corrected by less than a second all the time.
            stage.clock.advance(bySeconds: -0.9)
            runner.suspend()
            await runner.idle(.suspended)
            runner.resume()
            let status = await runner.idle(.date)
            #expect(status.next.map(ActionStage.line) == "a/run 1060")
        }
    }

    @Test func theSystemsTimersRunAlsoWhenTheClockIsSetBack() async throws {
        // By this clock, the time of day at which the timer is to run is years away.
        let timers = WallTimerSource(clock: ManualTimeSource(milliseconds: 4_000_000_000_000))
        let (fired, continuation) = AsyncStream.makeStream(of: Int.self)
        timers.after(milliseconds: 1) { continuation.yield(1) }
        var count = 0
        for await number in fired {
            count += number
            break
        }
        #expect(count == 1)
    }

    @Test func anAppMovesTheClockOfItsActionsInItsTests() async throws {
        try stage.set([("a", Job(at: 50))])
        let clock = YapDatabaseManualClock(ActionStage.start)
        let (database, manager, idling) = (stage.database, stage.manager, idling)
        let runner = YapDatabaseActionRunner(manager, in: database, clock: .manual(clock))
        try await running(runner, idling) {
            await runner.idle(.date)
            clock.advance(bySeconds: 50)
            #expect(await work.next(1) == ["a"])
        }
        #expect(clock.date == ActionStage.start.addingTimeInterval(50))
        clock.advance(bySeconds: 1_000)
        let task = Task { try await database.run(manager, clock: .manual(clock), idling) }
        #expect(await work.next(1) == ["a"])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
