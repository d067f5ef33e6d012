import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Writers, the engine's completions and those who count, all at once on threads of their own.
@Suite struct UploadLoadTests {
    private final class Device: Sendable {
        let path: String
        let database: YapDatabase
        let cloudKit: YapDatabaseCloudKit

        init(_ cloud: TestCloud, _ failures: YapDatabaseCloudKit.FailureHandling) async throws {
            path = NSTemporaryDirectory() + "yap-load-" + UUID().uuidString + ".db"
            database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            let container = cloud.device(user: "ada").container
            let environment = SyncEnvironment(
                scheduler: ThreadScheduler(), clock: SystemTimeSource(), random: SystemRandomSource(),
                databaseBlock: { _ in container.privateCloudDatabase }, errorBlock: { _, _ in })
            let zoneID = CKRecordZone.default().zoneID
            cloudKit = YapDatabaseCloudKit(
                recordHandler: .withObject { _, record, _, _, key, object in
                    guard let todo = object as? Todo else { return }
                    let known =
                        record
                        ?? CKRecord(
                            recordType: "todo", recordID: CKRecord.ID(recordName: key, zoneID: zoneID))
                    known["title"] = todo.title
                    record = known
                },
                mergeBlock: { _, _, _, _, _ in }, versionTag: "1",
                options: .init(allowedCollections: ["todos"], failures: failures), environment: environment)
            try await database.register(cloudKit, withName: "ck")
        }

        deinit {
            try? database.blocking.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        func quiet() async -> CloudSyncStatus {
            await withCheckedContinuation { continuation in
                cloudKit.runner.whenQuiet { continuation.resume(returning: $0) }
            }
        }
    }

    @Test(
        "119, 100 (both). writes race with completions 100 times; the pair of counts is always of one moment",
        arguments: YapDatabaseCloudKit.FailureHandling.allCases)
    func writesRaceWithCompletions(mode: YapDatabaseCloudKit.FailureHandling) async throws {
        let cloud = TestCloud(execution: .threads)
        let device = try await Device(cloud, mode)
        let isDone = Lock(false)
        let counting = Task {
            var looks = 0
            let connection = device.database.newConnection()
            while !isDone.withLock({ $0 }) {
                looks += 1
                let pair = try await device.cloudKit.numberOfChangeSets
                #expect(pair.inFlight <= 1 && pair.queued >= 0)
                let (counts, listed) = try await connection.read { transaction in
                    let ext = try transaction.ext("ck", as: YapDatabaseCloudKit.self)
                    return (try ext.numberOfChangeSets(), try ext.pendingChangeSetSummaries(limit: .max))
                }
                #expect(counts.inFlight == listed.count { $0.isInFlight })
                #expect(counts.inFlight + counts.queued == listed.count)
                #expect(listed.dropFirst().allSatisfy { !$0.isInFlight }, "only the oldest can be in flight")
            }
            return looks
        }
        let connection = device.database.newConnection()
        let random = SeededRandomSource(seed: 119)
        for round in 1...100 {
            let key = "\(random.next(in: 0..<5))"
            try await connection.readWrite {
                if round % 7 == 0 {
                    try $0.removeObject(forKey: key, inCollection: "todos")
                } else {
                    try $0.setObject(Todo(title: "\(round)"), forKey: key, inCollection: "todos")
                }
            }
        }
        #expect(await device.quiet().state == .idle)
        isDone.withLock { $0 = true }
        #expect(try await counting.value > 0)
        #expect(try await device.cloudKit.numberOfPendingChangeSets == 0)
        #expect(try await device.cloudKit.currentChangeSet() == nil)
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        for key in (0..<5).map(String.init) {
            let local = try await connection.read {
                try $0.object(Todo.self, forKey: key, inCollection: "todos")
            }
            let server = try? await database.record(for: CKRecord.ID(recordName: key))
            #expect(server?["title"] as? String == local?.title, "\(key)")
        }
    }

    @Test("100, 108. counts and pages of pending changes, read from any thread while nothing is sent")
    func countsAndPages() async throws {
        let device = try await Device(TestCloud(execution: .threads), .app)
        device.cloudKit.suspend()
        let connection = device.database.newConnection()
        for number in 0..<5 {
            try await connection.readWrite {
                try $0.setObject(Todo(title: "t"), forKey: "\(number)", inCollection: "todos")
            }
            #expect(try await device.cloudKit.numberOfQueuedChangeSets == number + 1)
        }
        #expect(try await device.cloudKit.numberOfInFlightChangeSets == 0)
        #expect(try await device.cloudKit.numberOfPendingChangeSets == 5)
        let first = try await device.cloudKit.pendingChangeSets(limit: 3)
        let rest = try await device.cloudKit.pendingChangeSets(limit: 3, after: first.last)
        #expect((first + rest).map { $0.recordIDsToSave.map(\.recordName) } == (0..<5).map { ["\($0)"] })
        #expect(try await device.cloudKit.currentChangeSet()?.uuid == first.first?.uuid)
        try await device.database.close()
        await #expect(throws: YapDatabaseError.self) { try await device.cloudKit.numberOfChangeSets }
    }
}
