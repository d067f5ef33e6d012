import CloudKit
import CloudKitTesting
import Foundation
import System
import Yap

@testable import YapCloudKit

/// The app of the seeds on one device: a database, the extension with the app's blocks, and the user's container.
final class SeedsApp {
    let cloud: TestCloud
    let device: TestDevice
    let path = NSTemporaryDirectory() + "yap-seeds-" + UUID().uuidString + ".db"
    let configure: @Sendable (inout YapDatabaseConfiguration) -> Void
    private(set) var database: YapDatabase
    private(set) var scheduler: ManualScheduler

    static let zoneID = CKRecordZone.ID(zoneName: "zone1", ownerName: CKCurrentUserDefaultName)

    init(
        _ cloud: TestCloud,
        configure: @escaping @Sendable (inout YapDatabaseConfiguration) -> Void = SeedsApp.types
    ) throws {
        self.cloud = cloud
        self.configure = configure
        device = cloud.device(user: "ada")
        scheduler = ManualScheduler(clock: cloud.clock)
        database = try YapDatabase(path: path, configure: configure)
    }

    deinit {
        try? database.blocking.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// What the app stores, and where.
    static let types: @Sendable (inout YapDatabaseConfiguration) -> Void = {
        $0.register(MyTodo.self, inCollection: "todos")
        $0.register(MyUser.self, inCollection: "users")
        $0.register(String.self, inCollection: "cloudKit")
    }

    var container: CKContainer { device.container }
    var connection: YapDatabaseConnection { database.newConnection() }

    /// The app ends and starts: the file is opened again, and nothing of the memory is left.
    func relaunch() throws {
        try database.blocking.close()
        scheduler = ManualScheduler(clock: cloud.clock)
        database = try YapDatabase(path: path, configure: configure)
    }

    func makeZone() {
        container.privateCloudDatabase.add(
            CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: Self.zoneID)]))
    }

    func readWrite(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try connection.blocking.readWrite(body)
    }

    func todo(_ key: String) throws -> MyTodo? {
        try connection.blocking.read { try $0.object(MyTodo.self, forKey: key, inCollection: "todos") }
    }

    /// What the queue has, oldest first: each record's name with its keys and values; "-" before a deletion.
    func queue() throws -> [String] {
        try connection.blocking.read { transaction in
            let changeSets = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets()
            return changeSets.flatMap { changeSet in
                changeSet.recordsToSave.map { record in
                    let pairs = record.changedKeys().sorted().map { key in
                        "\(key)=\(record.object(forKey: key).map { "\($0)" } ?? "nil")"
                    }
                    return ([record.recordID.recordName] + pairs).joined(separator: " ")
                } + changeSet.recordIDsToDelete.map { "-\($0.recordName)" }
            }
        }
    }

    /// Lets what is under way come to its end.
    func run() { scheduler.runUntilQuiet() }

    func recordID(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }

    /// The record on the server.
    func server(_ name: String, in database: CKDatabase? = nil) -> CKRecord? {
        let found = Lock<CKRecord?>(nil)
        let zoneless = database?.databaseScope == .public
        let operation = CKFetchRecordsOperation(
            recordIDs: [zoneless ? CKRecord.ID(recordName: name) : recordID(name)])
        operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
        (database ?? container.privateCloudDatabase).add(operation)
        return found.withLock { $0 }
    }

    /// What another device of the user does on the server.
    func changeOnServer(_ name: String, _ change: (CKRecord) -> Void) {
        guard let record = server(name) else { return }
        change(record)
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
    }
}

extension YapDatabaseCloudKit {
    /// As an app makes it, but on the test's cloud and thread.
    convenience init(
        _ app: SeedsApp, recordHandler: YapDatabaseCloudKitRecordHandler,
        mergeBlock: @escaping MergeBlock = { _, _, _, _, _ in },
        operationErrorBlock: @escaping OperationErrorBlock = { _, _ in },
        databaseIdentifierBlock: DatabaseIdentifierBlock? = nil, versionTag: String = "1",
        options: Options = Options()
    ) {
        let container = app.container
        let block: DatabaseIdentifierBlock = { identifier in
            guard let identifier else { return container.privateCloudDatabase }
            return databaseIdentifierBlock?(identifier)
        }
        let environment = SyncEnvironment(
            scheduler: app.scheduler, clock: app.cloud.clock, random: SeededRandomSource(seed: 5),
            databaseBlock: block, errorBlock: operationErrorBlock)
        self.init(
            recordHandler: recordHandler, mergeBlock: mergeBlock, versionTag: versionTag, options: options,
            environment: environment)
    }
}

extension YapDatabaseCloudKitRecordHandler {
    /// Calls the block of a handler that looks at the object.
    func call(
        _ transaction: YapDatabaseReadTransaction, _ record: inout CKRecord?, _ info: YDBCKRecordInfo,
        _ collection: String, _ key: String, _ object: any Sendable
    ) throws {
        guard case .object(let block) = block else { return }
        try block(transaction, &record, info, collection, key, object)
    }
}
