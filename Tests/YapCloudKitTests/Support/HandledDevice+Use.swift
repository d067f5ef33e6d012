import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Yap

@testable import YapCloudKit

extension HandledDevice {
    /// What the app's blocks saw.
    var seen: Behaviour { behaviour.withLock { $0 } }

    /// Changes what the app's blocks do.
    func behave(_ change: (inout Behaviour) -> Void) {
        behaviour.withLock { change(&$0) }
    }

    /// Lets the network do this to every upload.
    func lose(_ fault: TestCloud.NetworkFault) {
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? fault : .none }
    }

    typealias Ext = YapDatabaseCloudKitTransaction

    @discardableResult
    func write<Result>(_ body: (YapDatabaseReadWriteTransaction, Ext) throws -> Result) throws -> Result {
        try database.newConnection().blocking.readWrite { transaction in
            try body(transaction, try transaction.ext("ck", as: YapDatabaseCloudKit.self))
        }
    }

    func read<Result>(_ body: (YapDatabaseReadTransaction, Ext) throws -> Result) throws -> Result {
        try database.newConnection().blocking.read { transaction in
            try body(transaction, try transaction.ext("ck", as: YapDatabaseCloudKit.self))
        }
    }

    func set(_ todo: Todo, _ key: String, in collection: String = "todos") throws {
        try write { transaction, _ in try transaction.setObject(todo, forKey: key, inCollection: collection) }
    }

    func edit(_ key: String, _ change: (inout Todo) -> Void) throws {
        try write { transaction, _ in try transaction.edit(key, change) }
    }

    func remove(_ key: String) throws {
        try write { transaction, _ in try transaction.removeObject(forKey: key, inCollection: "todos") }
    }

    func todo(_ key: String) throws -> Todo? {
        try read { transaction, _ in try transaction.object(Todo.self, forKey: key, inCollection: "todos") }
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: seen.zoneID) }

    /// The queue in short: "S1{title=b,note=nil} D2" is a change-set that saves record 1 and deletes record 2.
    func queue() throws -> [String] {
        try read { _, ext in
            try ext.pendingChangeSets().map { changeSet in
                let saves = changeSet.recordsToSave.map { record in
                    let fields = record.changedKeys().map { key in
                        "\(key)=\(record.object(forKey: key).map { "\($0)" } ?? "nil")"
                    }
                    return "S\(record.recordID.recordName){\(fields.joined(separator: ","))}"
                }
                let deletions = changeSet.recordIDsToDelete.map { "D\($0.recordName)" }
                return (saves + deletions).joined(separator: " ")
            }
        }
    }

    func tag(_ name: String) throws -> String? {
        try read { _, ext in
            try ext.recordChangeTag(forRecordID: id(name), databaseIdentifier: nil).recordChangeTag
        }
    }

    func contains(_ name: String) throws -> Bool {
        try read { _, ext in try ext.containsRecordID(id(name), databaseIdentifier: nil) }
    }

    /// Uploads what can be uploaded now.
    @discardableResult
    func upload() -> CloudSyncStatus {
        while cloudKit.suspendCount > 0 { cloudKit.resume() }
        scheduler.runUntilQuiet()
        return cloudKit.status
    }

    /// A todo that is on the server, with nothing left in the queue.
    func uploaded(_ todo: Todo, _ key: String) throws {
        try set(todo, key)
        let wasSuspended = cloudKit.suspendCount > 0
        upload()
        if wasSuspended { cloudKit.suspend() }
    }

    /// The record on the server.
    func server(_ name: String) -> CKRecord? {
        let found = Lock<CKRecord?>(nil)
        let operation = CKFetchRecordsOperation(recordIDs: [id(name)])
        operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
        device.container.privateCloudDatabase.add(operation)
        return found.withLock { $0 }
    }

    /// What another device does: changes a record on the server. Returns it as a fetch would.
    @discardableResult
    func changeOnServer(_ name: String, _ change: (CKRecord) -> Void) -> CKRecord? {
        guard let record = server(name) else { return nil }
        change(record)
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
        return server(name)
    }

    func deleteOnServer(_ name: String) {
        let operation = CKModifyRecordsOperation(recordIDsToDelete: [id(name)])
        cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
    }

    /// A fetch in the seeds' terms: the app brings one changed record in.
    func merge(_ record: CKRecord?) throws {
        guard let record else { return }
        try write { _, ext in try ext.mergeRecord(record, databaseIdentifier: nil) }
    }

    /// Uploads all, and tells which titles were sent, in this order.
    func sentTitles() throws -> [String] {
        let seen = Lock<[String]>([])
        cloud.networkFault = { request in
            if request.path.hasSuffix("records/modify") {
                let text = String(decoding: request.body, as: UTF8.self)
                let parts = text.components(separatedBy: "\"title\":{")
                for part in parts.dropFirst() {
                    let value = part.components(separatedBy: "\"value\":\"").dropFirst().first
                    seen.withLock { $0.append(String(value?.prefix { $0 != "\"" } ?? "?")) }
                }
            }
            return .none
        }
        defer { cloud.networkFault = nil }
        upload()
        return seen.withLock { $0 }
    }

    /// How many requests with changes the cloud has got.
    var modifyRequests: Int { cloud.requestCount(.modifyRecords) }
}

extension YapDatabaseReadWriteTransaction {
    func edit(_ key: String, _ change: (inout Todo) -> Void) throws {
        guard var todo = try object(Todo.self, forKey: key, inCollection: "todos") else { return }
        change(&todo)
        try setObject(todo, forKey: key, inCollection: "todos")
    }
}
