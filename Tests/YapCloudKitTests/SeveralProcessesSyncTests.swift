import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Two instances on one file know as little of each other as two processes do; real ones are in EndToEndTests.
@Suite struct SeveralProcessesSyncTests {
    /// One file, with as many instances as a test opens.
    private final class File {
        let path = NSTemporaryDirectory() + "yap-processes-" + UUID().uuidString + ".db"
        let cloud: TestCloud
        let device: TestDevice

        init(_ cloud: TestCloud) {
            self.cloud = cloud
            device = cloud.device(user: "ada")
        }

        deinit {
            for suffix in ["", "-wal", "-shm", "-cloudKit.sync"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }

        func open(_ role: CloudSync.Role = .syncs) async throws -> (YapDatabase, CloudSync) {
            let database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            let sync = try await CloudSync(
                database, container: device.container, models: [.model(Todo.self, collection: "todos")],
                zone: "todos", role: role)
            return (database, sync)
        }
    }

    private let cloud = TestCloud(execution: .threads)

    /// Waits for a status, which comes by itself.
    private func wait(_ sync: CloudSync, until isMeant: (CloudSyncStatus) -> Bool) async {
        for await status in sync.status where isMeant(status) { return }
    }

    private func set(_ title: String, _ database: YapDatabase) async throws {
        try await database.newConnection().readWrite {
            try $0.setObject(Todo(title: title), forKey: title, inCollection: "todos")
        }
    }

    /// The titles that another device of the user gets.
    private func titlesOnServer() async throws -> [String] {
        let file = File(cloud)
        let (database, sync) = try await file.open()
        await sync.syncNow()
        let titles = try await database.newConnection().read { transaction in
            try transaction.objects(Todo.self, inCollection: "todos").map(\.object.title).sorted()
        }
        try await database.close()
        return titles
    }

    private func pending(_ database: YapDatabase) async throws -> Int {
        try await database.newConnection().read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets().count
        }
    }

    @Test func onlyTheHolderOfTheLockSendsAndItObservesOthersCommits() async throws {
        let file = File(cloud)
        let (holder, sync) = try await file.open()
        await sync.syncNow()
        let (other, otherSync) = try await file.open()
        let requests = cloud.requestCount()
        await wait(otherSync) { $0.waits(for: .otherProcess) }
        #expect(await otherSync.syncNow().waits(for: .otherProcess))
        #expect(cloud.requestCount() == requests, "who does not hold the lock asks for nothing")
        let commits = holder.commits
        try await set("a", other)
        var isSent = false
        for await _ in commits where !isSent {
            isSent = try await pending(holder) == 0
            if isSent { break }
        }
        #expect(cloud.requestCount(.modifyRecords) == 1)
        #expect(try await titlesOnServer() == ["a"])
        try await other.close()
        try await holder.close()
    }

    @Test func aProcessWithoutTheLockObservesTheHoldersCommits() async throws {
        let file = File(cloud)
        let (holder, sync) = try await file.open()
        await sync.syncNow()
        let (other, _) = try await file.open()
        let commits = other.commits
        try await set("a", holder)
        var keys: [String] = []
        for await commit in commits where commit.isExternal {
            keys = try await other.newConnection().read {
                try $0.objects(Todo.self, inCollection: "todos").map(\.key)
            }
            if !keys.isEmpty { break }
        }
        #expect(keys == ["a"])
        try await other.close()
        try await holder.close()
    }

    @Test func theNextTakesOverWhenTheHolderEnds() async throws {
        let file = File(cloud)
        let (holder, sync) = try await file.open()
        await sync.syncNow()
        let (next, nextSync) = try await file.open()
        await wait(nextSync) { $0.waits(for: .otherProcess) }
        sync.suspend()
        try await set("a", next)
        #expect(try await pending(next) == 1)
        try await holder.close()
        await wait(nextSync) { $0.state == .idle }
        #expect(try await pending(next) == 0)
        #expect(try await titlesOnServer() == ["a"])
        try await next.close()
    }

    @Test func aLockReleasedAfterItsHoldersReportedEndIsTaken() async throws {
        let file = File(cloud)
        let path = SyncProcessLock.path(database: file.path, registeredName: "cloudKit")
        let holder = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
        let (next, sync) = try await file.open()
        await wait(sync) { $0.waits(for: .otherProcess) }
        // The kernel tells of a close before it gives up the closed file's lock.
        close(open(path, O_RDWR | O_CLOEXEC))
        #expect(await sync.syncNow().waits(for: .otherProcess))
        #expect(flock(holder, LOCK_UN) == 0)
        await wait(sync) { $0.state == .idle }
        close(holder)
        try await next.close()
    }

    @Test func aClosedDatabaseNoLongerListens() async throws {
        let file = File(cloud)
        let (database, sync) = try await file.open()
        await sync.syncNow()
        let ended = Lock<[@Sendable () -> Void]>([])
        let told = AsyncStream<Void>.makeStream()
        sync.cloudKit.runner.listeners.add(start: 1) { told.continuation.yield() }
        try await database.close()
        for await _ in told.stream { break }
        // What begins to listen too late ends at once.
        sync.cloudKit.runner.listeners.add(start: 1) { ended.withLock { $0.append({}) } }
        #expect(ended.withLock { $0.count } == 1)
    }

    @Test func whoOnlyRecordsNeverSendsAndIsSentForLater() async throws {
        let file = File(cloud)
        let (recorder, sync) = try await file.open(.records)
        try await set("a", recorder)
        #expect(await sync.syncNow().waits(for: .otherProcess))
        #expect(cloud.requestCount() == 0)
        try await recorder.close()
        let (holder, holderSync) = try await file.open()
        #expect(await holderSync.syncNow().state == .idle)
        #expect(try await titlesOnServer() == ["a"])
        try await holder.close()
    }

    @Test func twoExtensionsInOneDatabaseHaveALockEach() {
        let paths = ["a", "b", "a/b", "ä"].map { SyncProcessLock.path(database: "x.db", registeredName: $0) }
        #expect(paths == ["x.db-a.sync", "x.db-b.sync", "x.db-a%2fb.sync", "x.db-%c3%a4.sync"])
    }

    @Test func anEngineWithoutTheTurnRequestsNothing() {
        var engine = SyncEngine(random: SeededRandomSource(seed: 1))
        let key = DatabaseKey(nil)
        _ = engine.handle(.processLock(isHeld: false), now: 0)
        let zone = CKRecordZone.ID(zoneName: "z")
        let events: [SyncEvent] = [
            .follow(key, zone, mayBeMissing: true), .counted(key, QueueCount(pending: 2)), .retry,
        ]
        for event in events {
            for action in engine.handle(event, now: 0) {
                guard case .status(let status) = action, status.waits(for: .otherProcess) else {
                    Issue.record("\(action)")
                    continue
                }
            }
        }
        let actions = engine.handle(.processLock(isHeld: true), now: 0)
        #expect(actions.contains { if case .begin(.createZone, _, _) = $0 { true } else { false } })
    }
}
