import CloudKit
import CloudKitTesting
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// One sync that is started with a database after another: nothing of a start is lost, and nothing of the former one
/// counts.
@Suite struct SyncRestartTests {
    /// A clock that does something once when it is read.
    private final class HookedClock: TimeSource {
        private let hook = Lock<(@Sendable () -> Void)?>(nil)
        private let clock: any TimeSource

        init(_ clock: any TimeSource) { self.clock = clock }

        func atNextRead(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

        func nowMilliseconds() -> Int64 {
            let body = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            body?()
            return clock.nowMilliseconds()
        }
    }

    /// Does something when it is released.
    private final class Released: Sendable {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        deinit { body() }
    }

    private let cloud = TestCloud()
    private let scheduler: ManualScheduler
    private let clock: HookedClock
    private let device: TestDevice

    init() {
        scheduler = ManualScheduler(clock: cloud.clock)
        clock = HookedClock(cloud.clock)
        device = cloud.device(user: "ada")
    }

    private func runner(lock: SyncProcessLock? = nil) -> SyncRunner {
        let container = device.container
        let environment = SyncEnvironment(
            scheduler: scheduler, clock: clock, random: SeededRandomSource(seed: 1),
            databaseBlock: { _ in container.privateCloudDatabase }, errorBlock: { _, _ in },
            processLock: lock)
        return SyncRunner(environment: environment, zoneHandler: nil, failures: .automatic)
    }

    /// A database with a change to send, which its own extension doesn't send.
    private func changed() throws -> HandledDevice {
        let made = try HandledDevice(cloud, suspended: true, device: device)
        try made.set(Todo(title: "a"), "1")
        return made
    }

    /// A database of which only `runner` has a connection, so that the next start ends it.
    private func startReleased(
        _ runner: SyncRunner, _ folder: TemporaryFolder, whenEnded: @escaping @Sendable () -> Void
    ) throws {
        let database = try YapDatabase(path: folder.file("former.yap")) { _ in }
        runner.start(database: database, registeredName: "ck")
        #expect(runner.session.open() != nil)
        database.addInlineCommitObserver(whenEnded: whenEnded) { _ in }
    }

    /// The lock of a database, as another process takes it.
    private func lock(of database: YapDatabase) throws -> OpenFile? {
        let path = SyncProcessLock.path(database: database.path, registeredName: "ck")
        let file = try OpenFile(path, .updatingOrCreating)
        return try file.lock(waits: false) ? file : nil
    }

    @Test func theEventsOfAStartThatComesWhileTheLoopTakesTheNextEventAreHandled() throws {
        let (former, next) = (try changed(), try changed())
        let held = try #require(try lock(of: former.database))
        let runner = runner(lock: SyncProcessLock(acquires: true))
        runner.start(database: former.database, registeredName: "ck")
        scheduler.runUntilQuiet()
        #expect(runner.status.waits(for: .otherProcess))
        try former.database.blocking.close()
        runner.needStoredLog()
        let database = next.database
        clock.atNextRead { runner.start(database: database, registeredName: "ck") }
        scheduler.runUntilQuiet()
        // Its lock is held, which is one of its events.
        #expect(runner.status.state == .idle && runner.status.pendingCount == 0, "\(runner.status)")
        #expect(try next.queue().isEmpty && next.server("1") != nil)
        withExtendedLifetime(held) {}
    }

    @Test func ofTwoStartsAtOnceTheEventsOfTheNewerCount() throws {
        let (older, newer) = (try changed(), try changed())
        let folder = try TemporaryFolder()
        let held = try #require(try lock(of: newer.database))
        let runner = runner(lock: SyncProcessLock(acquires: true))
        let newest = newer.database
        try startReleased(runner, folder) { [weak runner] in
            runner?.start(database: newest, registeredName: "ck")
        }
        // Has acquired its lock when the newer start comes, which doesn't get one.
        runner.start(database: older.database, registeredName: "ck")
        #expect(runner.session.location?.path == newest.path)
        scheduler.runUntilQuiet()
        #expect(runner.status.waits(for: .otherProcess), "\(runner.status)")
        #expect(try newer.queue().count == 1 && newer.server("1") == nil)
        withExtendedLifetime(held) {}
    }

    @Test func theEndOfADatabaseDuringItsStartEndsTheListening() throws {
        let (next, folder) = (try changed(), try TemporaryFolder())
        let runner = runner()
        let database = next.database
        let isClosed = Lock(false)
        try startReleased(runner, folder) {
            isClosed.withLock { $0 = (try? database.blocking.close()) != nil }
        }
        runner.start(database: database, registeredName: "ck")
        #expect(isClosed.withLock { $0 } && runner.session.isEnded)
        let ended = Lock(false)
        runner.listeners.add(start: 2) { ended.withLock { $0 = true } }
        #expect(ended.withLock { $0 })
        scheduler.runUntilQuiet()
        #expect(runner.status.waits(for: .localDatabase))
    }

    @Test func theWorkOfAFormerDatabaseIsNotTakenForTheNextOnes() throws {
        let (former, next) = (try changed(), try changed())
        let answers = HeldAnswers(cloud)
        let runner = runner()
        runner.start(database: former.database, registeredName: "ck")
        scheduler.runUntilQuiet()
        #expect(answers.count == 1 && runner.status.isSyncing)
        try former.database.blocking.close()
        scheduler.runUntilQuiet()
        runner.start(database: next.database, registeredName: "ck")
        let isQuiet = Lock(false)
        runner.whenQuiet { _ in isQuiet.withLock { $0 = true } }
        scheduler.runUntilQuiet()
        #expect(answers.count == 2, "nothing waits for the answer to the former one")
        answers.release()
        scheduler.runUntilQuiet()
        #expect(!isQuiet.withLock { $0 }, "the answer to the former one isn't the next one's")
        answers.release()
        scheduler.runUntilQuiet()
        #expect(isQuiet.withLock { $0 } && next.server("1") != nil)
    }

    @Test func theEndOfAFormerDatabaseLeavesTheLockOfTheNextOneHeld() throws {
        let (next, folder) = (try changed(), try TemporaryFolder())
        let processLock = SyncProcessLock(acquires: true)
        let runner = runner(lock: processLock)
        let isEnded = Lock(false)
        try startReleased(runner, folder) { isEnded.withLock { $0 = true } }
        runner.start(database: next.database, registeredName: "ck")
        #expect(isEnded.withLock { $0 } && processLock.isHeld(start: 2))
        #expect(try lock(of: next.database) == nil)
        try next.database.blocking.close()
        #expect(!processLock.isHeld(start: 2))
    }

    @Test func aStartDuringTheEndOfTheFormerDatabaseIsNotEndedWithIt() async throws {
        let (former, next) = (try changed(), try changed())
        let runner = runner()
        runner.start(database: former.database, registeredName: "ck")
        let statuses = runner.statusStream()
        let answers = HeldAnswers(cloud)
        let isListeningEnded = Lock(false)
        let database = next.database
        // The end releases the operations before it reports anything.
        whenOperationsAreReleased(in: runner) { [weak runner, scheduler] in
            runner?.start(database: database, registeredName: "ck")
            runner?.listeners.add(start: 2) { isListeningEnded.withLock { $0 = true } }
            scheduler.runUntilQuiet()
        }
        try await former.database.close()
        #expect(runner.session.start == 2 && answers.count == 1)
        #expect(runner.status.isSyncing && !isListeningEnded.withLock { $0 }, "\(runner.status)")
        #expect(scheduler.nextWakeMilliseconds != nil, "the deadline of the operation")
        answers.release()
        scheduler.runUntilQuiet()
        #expect(runner.status.state == .idle && next.server("1") != nil)
        try await next.database.close()
        #expect(isListeningEnded.withLock { $0 })
        var states: [CloudSyncStatus.State] = []
        for await status in statuses { states.append(status.state) }
        #expect(states.contains(.idle), "the stream goes on with the next database")
    }

    /// Calls `body` when the operations of the first start are released.
    private func whenOperationsAreReleased(in runner: SyncRunner, _ body: @escaping @Sendable () -> Void) {
        let released = Released(body)
        let operation = CKModifyRecordsOperation()
        operation.modifyRecordsResultBlock = { _ in withExtendedLifetime(released) {} }
        let isKept = runner.session.add(operation, attempt: -1, start: 1)
        #expect(isKept)
    }

    @Test func anOperationOfAFormerStartIsNotRun() throws {
        let (former, next) = (try changed(), try changed())
        let runner = runner()
        runner.start(database: former.database, registeredName: "ck")
        runner.start(database: next.database, registeredName: "ck")
        scheduler.runUntilQuiet()
        let before = cloud.requestCount()
        let job = SyncJob(runner: runner, key: DatabaseKey(nil), attempt: -1, sessionStart: 1)
        job.start(
            CKFetchRecordZonesOperation.fetchAllRecordZonesOperation(),
            in: CloudDatabase(database: device.container.privateCloudDatabase, userRecordName: nil))
        scheduler.runUntilQuiet()
        #expect(!runner.session.hasOperation(attempt: -1) && cloud.requestCount() == before)
    }

    @Test func aStartEndsTheListeningForTheDatabaseBeforeEvenIfThatIsOpen() throws {
        let (former, next) = (try changed(), try changed())
        let runner = runner()
        let ended = Lock<[String]>([])
        runner.start(database: former.database, registeredName: "ck")
        runner.listeners.add(start: 1) { ended.withLock { $0.append("first") } }
        runner.start(database: next.database, registeredName: "ck")
        #expect(ended.withLock { $0 } == ["first"])
        runner.listeners.add(start: 2) { ended.withLock { $0.append("second") } }
        runner.listeners.add(start: 1) { ended.withLock { $0.append("late") } }
        #expect(ended.withLock { $0 } == ["first", "late"])
        try former.database.blocking.close()
        #expect(ended.withLock { $0 } == ["first", "late"])
        try next.database.blocking.close()
        #expect(ended.withLock { $0 } == ["first", "late", "second"])
    }

    @Test func theProcessLockOfANewerStartIsNeitherReplacedNorReleased() throws {
        let (older, newer) = (try changed(), try changed())
        let processLock = SyncProcessLock(acquires: true)
        let listener = SyncProcessLock.Listener(acquired: {}, committed: { _ in })
        func acquire(_ database: YapDatabase, start: Int) throws -> Bool {
            let path = SyncProcessLock.path(database: database.path, registeredName: "ck")
            return try processLock.acquire(path: path, start: start, listener: listener)
        }
        #expect(try acquire(newer.database, start: 2))
        #expect(try !acquire(older.database, start: 1))
        #expect(try lock(of: older.database) != nil && lock(of: newer.database) == nil)
        processLock.release(start: 1)
        #expect(processLock.isHeld(start: 2) && !processLock.isHeld(start: 1))
        #expect(try lock(of: newer.database) == nil)
        processLock.release(start: 2)
        #expect(try lock(of: newer.database) != nil)
        #expect(try !acquire(newer.database, start: 2), "its database has ended")
    }
}
