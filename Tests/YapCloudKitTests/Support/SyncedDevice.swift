import CloudKit
import CloudKitTesting
import Foundation
import System
import Yap

@testable import YapCloudKit

/// A device with a database file and a `CloudSync`, on the test's own thread. A relaunch closes the file and opens it.
final class SyncedDevice {
    let cloud: TestCloud
    let device: TestDevice
    let path: String
    let random: any RandomSource
    private let listens: Bool
    private let folds: Bool
    private let objectsOfDeletedZones: CloudSync.DeletedZonesObjects
    private(set) var database: YapDatabase
    private(set) var sync: CloudSync
    private(set) var scheduler: ManualScheduler
    /// What the merges decided, across relaunches.
    let log = Lock<[CloudMergeLogEntry]>([])

    /// - Parameters:
    ///   - listens: Whether it hears of other devices' changes when the cloud delivers its pushes.
    ///   - folds: Whether it folds the changes that wait.
    ///   - objectsOfDeletedZones: What happens to its objects when their zone was deleted.
    init(
        _ cloud: TestCloud, user: String = "ada", seed: UInt64 = 7, listens: Bool = false,
        folds: Bool = false, objectsOfDeletedZones: CloudSync.DeletedZonesObjects = .keep,
        device: TestDevice? = nil
    ) throws {
        self.objectsOfDeletedZones = objectsOfDeletedZones
        self.cloud = cloud
        self.listens = listens
        self.folds = folds
        self.device = device ?? cloud.device(user: user)
        let device = self.device
        random = SeededRandomSource(seed: seed + UInt64(device.number))
        path = NSTemporaryDirectory() + "yap-sync-" + UUID().uuidString + ".db"
        (database, sync, scheduler) = try Self.open(
            path, device, cloud, random, listens, folds, objectsOfDeletedZones)
        observe()
    }

    deinit {
        try? database.blocking.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static func open(
        _ path: String, _ device: TestDevice, _ cloud: TestCloud, _ random: any RandomSource,
        _ listens: Bool, _ folds: Bool, _ objectsOfDeletedZones: CloudSync.DeletedZonesObjects
    ) throws -> (YapDatabase, CloudSync, ManualScheduler) {
        let database = try YapDatabase(path: path) {
            $0.register(Todo.self, inCollection: "todos")
            $0.register(Note.self, inCollection: "notes")
        }
        let scheduler = ManualScheduler(clock: cloud.clock)
        let sync = try CloudSync(
            database, container: device.container, models: [.model(Todo.self, collection: "todos")],
            zone: "todos", scheduler: scheduler, clock: cloud.clock, random: random,
            listens: listens, foldsQueuedChanges: folds, objectsOfDeletedZones: objectsOfDeletedZones)
        return (database, sync, scheduler)
    }

    private func observe() {
        sync.observeMergeLog { [log] entries in log.withLock { $0 += entries } }
    }

    func relaunch() throws {
        try database.blocking.close()
        (database, sync, scheduler) = try Self.open(
            path, device, cloud, random, listens, folds, objectsOfDeletedZones)
        observe()
    }

    func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try database.newConnection().blocking.readWrite(body)
    }

    func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
        try database.newConnection().blocking.read(body)
    }

    func set(_ todo: Todo, _ key: String) throws {
        try write { try $0.setObject(todo, forKey: key, inCollection: "todos") }
    }

    func edit(_ key: String, _ change: (inout Todo) -> Void) throws {
        try write { transaction in
            guard var todo = try transaction.object(Todo.self, forKey: key, inCollection: "todos") else {
                return
            }
            change(&todo)
            try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    func remove(_ key: String) throws {
        try write { try $0.removeObject(forKey: key, inCollection: "todos") }
    }

    func todo(_ key: String) throws -> Todo? {
        try read { try $0.object(Todo.self, forKey: key, inCollection: "todos") }
    }

    func todos() throws -> [String: Todo] {
        try read { transaction in
            var todos: [String: Todo] = [:]
            for row in try transaction.objects(Todo.self, inCollection: "todos") {
                todos[row.key] = row.object
            }
            return todos
        }
    }

    func queue() throws -> [YDBCKChangeSet] {
        try read { try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets() }
    }

    /// The record on the server.
    func server(_ key: String) -> CKRecord? {
        let found = Lock<CKRecord?>(nil)
        let recordID = CKRecord.ID(recordName: key, zoneID: sync.zoneID)
        let operation = CKFetchRecordsOperation(recordIDs: [recordID])
        operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
        device.container.privateCloudDatabase.add(operation)
        return found.withLock { $0 }
    }

    @discardableResult
    func syncNow() -> CloudSyncStatus { sync.syncNowInline() }

    /// The server says that it was put back: everything is fetched anew.
    func beginReset() throws {
        try write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try ext.beginFullFetch(sync.zoneID, DatabaseKey(nil), .reset)
        }
    }

    var rules: [CloudMergeLogEntry.Rule] { log.withLock { $0.map(\.rule) } }
}
