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
        runner.listeners.add { ended.withLock { $0 = true } }
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
        #expect(isQuiet.withLock { $0 }, "nothing waits for the answer to the former one")
    }

    @Test func theEndOfAFormerDatabaseLeavesTheLockOfTheNextOneHeld() throws {
        let (next, folder) = (try changed(), try TemporaryFolder())
        let processLock = SyncProcessLock(acquires: true)
        let runner = runner(lock: processLock)
        let isEnded = Lock(false)
        try startReleased(runner, folder) { isEnded.withLock { $0 = true } }
        runner.start(database: next.database, registeredName: "ck")
        #expect(isEnded.withLock { $0 } && processLock.isHeld)
        #expect(try lock(of: next.database) == nil)
        try next.database.blocking.close()
        #expect(!processLock.isHeld)
    }
}
