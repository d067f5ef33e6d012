import CloudKit
import CloudKitTesting
import Foundation
import System
import Yap

@testable import YapCloudKit

/// A device with the extension in the seeds' own terms: a record handler and a merge block of the test.
///
/// "todos" is synced to the private database, "shared" to the database "public"; "local" is not synced.
final class HandledDevice {
    static let zoneID = CKRecordZone.ID(zoneName: "Z")

    /// What the handler and the merge block see and do, for the test to look at and to change.
    struct Behaviour {
        var handled: [String] = []
        var versionInfos = 0
        /// What was asked for again: "1: note,title".
        var restored: [String] = []
        var restoredBases: [CKRecord] = []
        /// Keys that are not given back.
        var forgottenKeys: Set<String> = []
        /// Keys that the handler and the merge block don't know, as an older version of the app.
        var unknownKeys: Set<String> = []
        var merged: [(key: String?, pending: CKRecord?, originals: [String], originalTitle: String?)] = []
        var mergeRule: MergeRule = .recommended
        var skippedKeys: Set<String> = []
        /// Where a row's record goes, when not under the row's own key.
        var recordNames: [String: String] = [:]
        var errors: [(identifier: String?, code: CKError.Code)] = []
        var wholeErrors: [CKError] = []
        /// Where the records are.
        var zoneID = HandledDevice.zoneID
        var versionTag = "1"
        var invocation: YapDatabaseCloudKitRecordHandler.Invocation = [.objectModified, .objectTouched]
        /// Set on every touch.
        var touchedPriority: Int?
        var knowsPublic = true
        var omitsAll = false
        var addsComputedNote = false
        /// Whether the merge block writes a row whose record is in the other database.
        var writesShared = false
        /// Under which key the merge block makes another row, twice written, of the one that it removes.
        var replacesRow: String?
        /// Decisions of merges that the app received.
        var logged: [CloudMergeLogEntry] = []
        /// Whether the app receives decisions of merges.
        var listensToLog = true
    }

    enum MergeRule { case recommended, clientWins, copyNothing }

    let cloud: TestCloud
    let device: TestDevice
    private(set) var path: String
    let behaviour = Lock(Behaviour())
    let isSuspended: Bool
    private(set) var options: YapDatabaseCloudKit.Options
    let vfsName: String?
    private(set) var database: YapDatabase
    private(set) var cloudKit: YapDatabaseCloudKit
    private(set) var scheduler: ManualScheduler
    private let others = OtherExtensions()

    init(
        _ cloud: TestCloud, suspended: Bool = false, registers: Bool = true,
        storage: YapDatabaseCloudKit.QueueStorage = .values,
        failures: YapDatabaseCloudKit.FailureHandling = .automatic, folds: Bool = false,
        device: TestDevice? = nil, zoneID: CKRecordZone.ID = HandledDevice.zoneID, vfsName: String? = nil
    ) throws {
        self.cloud = cloud
        self.vfsName = vfsName
        behaviour.withLock { $0.zoneID = zoneID }
        options = .init(
            allowedCollections: ["todos", "shared"], storage: storage, failures: failures,
            foldsQueuedChanges: folds)
        self.device = device ?? cloud.device(user: "ada")
        isSuspended = suspended
        path = Self.newPath()
        scheduler = ManualScheduler(clock: cloud.clock)
        cloudKit = Self.make(self.device, scheduler, cloud, behaviour, options)
        database = try Self.open(path, vfsName)
        try others.register(in: database)
        if suspended { cloudKit.suspend() }
        if registers { try register() }
        makeZone()
    }

    deinit {
        others.check(database)
        try? database.blocking.close()
        Self.removeFiles(path)
    }

    private static func newPath() -> String {
        NSTemporaryDirectory() + "yap-handled-" + UUID().uuidString + ".db"
    }

    private static func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static func open(_ path: String, _ vfsName: String?) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.vfsName = vfsName
        return try YapDatabase(path: path, options: options) {
            for collection in ["todos", "shared", "local"] {
                $0.register(Todo.self, inCollection: collection)
            }
            $0.registerMetadata(String.self, serializer: .cbor(), inCollection: "todos")
        }
    }

    func register(name: String = "ck") throws {
        try database.blocking.register(cloudKit, withName: name)
    }

    /// - Parameter unseen: What happens to the file while it is closed.
    func relaunch(storage: YapDatabaseCloudKit.QueueStorage? = nil, unseen: () throws -> Void = {}) throws {
        others.check(database)
        try database.blocking.close()
        try unseen()
        if let storage { options.storage = storage }
        scheduler = ManualScheduler(clock: cloud.clock)
        cloudKit = Self.make(device, scheduler, cloud, behaviour, options)
        database = try Self.open(path, vfsName)
        try others.register(in: database)
        if isSuspended { cloudKit.suspend() }
        try register()
    }

    /// Closes the database, deletes it, and registers the same extension in a new one.
    func moveToNewDatabase() throws {
        others.check(database)
        try database.blocking.close()
        Self.removeFiles(path)
        path = Self.newPath()
        database = try Self.open(path, vfsName)
        try others.register(in: database)
        try register()
    }

    /// The app's own part in the seeds' terms.
    func makeZone() {
        device.container.privateCloudDatabase.add(
            CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: Self.zoneID)]))
    }

    static func make(
        _ device: TestDevice, _ scheduler: ManualScheduler, _ cloud: TestCloud, _ behaviour: Lock<Behaviour>,
        _ options: YapDatabaseCloudKit.Options
    ) -> YapDatabaseCloudKit {
        let container = device.container
        let environment = SyncEnvironment(
            scheduler: scheduler, clock: cloud.clock, random: SeededRandomSource(seed: 3),
            databaseBlock: { identifier in
                switch identifier {
                case nil, "": container.privateCloudDatabase
                case "public": behaviour.withLock { $0.knowsPublic } ? container.privateCloudDatabase : nil
                default: nil
                }
            },
            errorBlock: { identifier, error in
                behaviour.withLock {
                    $0.errors.append((identifier, error.code))
                    $0.wholeErrors.append(error)
                }
            },
            logBlock: { entries in
                behaviour.withLock {
                    if $0.listensToLog { $0.logged += entries }
                    return $0.listensToLog
                }
            })
        let handler: YapDatabaseCloudKitRecordHandler.WithRow = {
            _, record, info, collection, key, object, _ in
            try handle(&record, info, collection, key, object, behaviour)
        }
        return YapDatabaseCloudKit(
            recordHandler: .withRow(invocation: behaviour.withLock { $0.invocation }, handler),
            mergeBlock: { transaction, collection, key, remote, info in
                try merge(transaction, collection, key, remote, info, behaviour)
            },
            versionTag: behaviour.withLock { $0.versionTag }, versionInfo: "info",
            options: options, environment: environment)
    }

    // MARK: The app's blocks

    private static func handle(
        _ record: inout CKRecord?, _ info: YDBCKRecordInfo, _ collection: String, _ key: String,
        _ object: any Sendable, _ behaviour: Lock<Behaviour>
    ) throws {
        let settings = behaviour.withLock { behaviour in
            if info.keysToRestore == nil { behaviour.handled.append(key) }
            if info.versionInfo != nil { behaviour.versionInfos += 1 }
            return behaviour
        }
        if settings.skippedKeys.contains(key) || settings.omitsAll {
            record = nil
            return
        }
        guard let todo = object as? Todo else { return }
        let name = settings.recordNames[key] ?? key
        let previous = info.previousObject as? Todo
        if let known = record, known.recordID.recordName == name {
            if let keys = info.keysToRestore {
                let base = known.copy() as? CKRecord
                behaviour.withLock {
                    $0.restored.append("\(key): \(keys.sorted().joined(separator: ","))")
                    $0.restoredBases += base.map { [$0] } ?? []
                }
                for field in keys
                where !settings.forgottenKeys.contains(field) && !settings.unknownKeys.contains(field) {
                    known[field] = values(todo)[field] ?? nil
                }
            } else if let previous {
                for (field, value) in values(todo)
                where !same(value, values(previous)[field] ?? nil) && !settings.unknownKeys.contains(field) {
                    known[field] = value
                    info.originalValues[field] = values(previous)[field]
                }
            } else if let priority = settings.touchedPriority {
                known["priority"] = priority
            }
            return
        }
        let made = CKRecord(
            recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: settings.zoneID))
        for (field, value) in values(todo) where value != nil { made[field] = value }
        if collection == "shared" { info.databaseIdentifier = "public" }
        record = made
    }

    static func values(_ todo: Todo) -> [String: (any CKRecordValueProtocol)?] {
        ["title": todo.title, "done": todo.isDone, "priority": todo.priority, "note": todo.note]
    }

    static func same(_ left: (any CKRecordValueProtocol)?, _ right: (any CKRecordValueProtocol)?) -> Bool {
        left.map { RecordFieldValue($0) } == right.map { RecordFieldValue($0) }
    }

    private static func merge(
        _ transaction: YapDatabaseReadWriteTransaction, _ collection: String?, _ key: String?,
        _ remote: CKRecord, _ info: YDBCKMergeInfo, _ behaviour: Lock<Behaviour>
    ) throws {
        let settings = behaviour.withLock { behaviour in
            behaviour.merged.append(
                (
                    key, info.pendingLocalRecord, info.originalValues.keys.sorted(),
                    (info.originalValues["title"] ?? nil) as? String
                ))
            return behaviour
        }
        if settings.addsComputedNote { info.updatedPendingLocalRecord["note"] = "computed" }
        if settings.writesShared {
            try transaction.setObject(Todo(title: "s"), forKey: "s", inCollection: "shared")
        }
        guard let collection, let key,
            var todo = try transaction.object(Todo.self, forKey: key, inCollection: collection)
        else { return }
        if let other = settings.replacesRow {
            try transaction.removeObject(forKey: key, inCollection: collection)
            for title in ["first", "last"] {
                try transaction.setObject(Todo(title: title), forKey: other, inCollection: collection)
            }
            return
        }
        let pending = info.pendingLocalRecord
        for field in ["title", "done", "priority", "note"] where !settings.unknownKeys.contains(field) {
            let isPending = pending?.changedKeys().contains(field) ?? false
            let remoteValue = remote.object(forKey: field)
            let local = values(todo)[field] ?? nil
            let isChangedRemotely =
                !same(remoteValue, local) && !same(remoteValue, info.originalValues[field] ?? nil)
            switch settings.mergeRule {
            case .copyNothing:
                set(&todo, field, remoteValue)
            case .clientWins where isPending:
                info.updatedPendingLocalRecord.setObject(pending?.object(forKey: field), forKey: field)
            case .recommended where isPending && !isChangedRemotely && !same(remoteValue, local):
                info.updatedPendingLocalRecord.setObject(pending?.object(forKey: field), forKey: field)
            default:
                set(&todo, field, remoteValue)
            }
        }
        try transaction.setObject(todo, forKey: key, inCollection: collection)
    }

    static func set(_ todo: inout Todo, _ field: String, _ value: (any CKRecordValueProtocol)?) {
        switch field {
        case "title": todo.title = value as? String ?? ""
        case "done": todo.isDone = value as? Bool ?? false
        case "priority": todo.priority = value as? Int ?? 0
        default: todo.note = value as? String
        }
    }
}
