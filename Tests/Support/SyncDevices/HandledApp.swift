import CloudKit
import System
import Yap
import YapCloudKit

/// An app that uses the extension in its own terms: it has a record handler and a merge block, fetches by itself, and
/// deals with the errors of uploads by itself.
///
/// Everything runs on the thread that calls it, with a cloud that answers inline.
package final class HandledApp {
    package static let name = "ck"
    package static let collection = "items"
    package static let zoneID = CKRecordZone.ID(zoneName: "items")
    private static let fieldNames = ["count", "text", "note"]

    package let cloudKit: YapDatabaseCloudKit
    private let connection: YapDatabaseConnection
    private let cloud: CKDatabase
    private let errors: Lock<[CKError]>
    private var hasZone = false
    private var needsFetch = true

    /// Registers the extension.
    /// - Parameter version: The version of the app: the handler of each writes it into every record.
    package init(
        _ database: YapDatabase, container: CKContainer, version: Int, options: YapDatabaseCloudKit.Options,
        environment: SyncEnvironment, failpoints: Failpoints
    ) throws {
        let errors = Lock<[CKError]>([])
        self.errors = errors
        cloud = container.privateCloudDatabase
        var environment = environment
        let cloud = cloud
        environment.databaseBlock = { $0 == nil ? cloud : nil }
        environment.errorBlock = { _, error in errors.withLock { $0.append(error) } }
        cloudKit = YapDatabaseCloudKit(
            recordHandler: Self.handler(version: version, failpoints), mergeBlock: Self.merge(failpoints),
            versionTag: "\(version)", versionInfo: version, options: options, environment: environment)
        // For the zone, and for the first fetch.
        cloudKit.suspend(count: 2)
        connection = database.newConnection()
        try database.blocking.register(cloudKit, withName: Self.name)
    }

    // MARK: The blocks

    private static func handler(
        version: Int, _ failpoints: Failpoints
    ) -> YapDatabaseCloudKitRecordHandler {
        .withObject { _, record, info, _, key, object in
            failpoints.reached(info.keysToRestore == nil ? .asked : .restored)
            guard let item = object as? Item else { return }
            if let keys = info.keysToRestore {
                for name in fieldNames where keys.contains(name) { record?[name] = value(name, of: item) }
                if keys.contains("build") { record?["build"] = version }
                return
            }
            guard let known = record else {
                let made = CKRecord(
                    recordType: Item.recordType, recordID: CKRecord.ID(recordName: key, zoneID: zoneID))
                for name in fieldNames where value(name, of: item) != nil {
                    made[name] = value(name, of: item)
                }
                made["build"] = version
                record = made
                return
            }
            if info.versionInfo != nil { known["build"] = version }
            guard let previous = info.previousObject as? Item else { return }
            for name in fieldNames {
                let (old, new) = (value(name, of: previous), value(name, of: item))
                guard !isSame(old, new) else { continue }
                known[name] = new
                info.originalValues.updateValue(old, forKey: name)
            }
        }
    }

    /// Field by field: what was changed on the server since stands, what was only changed here goes up.
    private static func merge(_ failpoints: Failpoints) -> YapDatabaseCloudKit.MergeBlock {
        { transaction, collection, key, remote, info in
            failpoints.reached(.asked)
            guard let collection, let key,
                var item = try transaction.object(Item.self, forKey: key, inCollection: collection)
            else { return }
            let pending = info.pendingLocalRecord
            for name in fieldNames {
                let isPending = pending?.changedKeys().contains(name) ?? false
                let there = remote.object(forKey: name)
                let isChangedThere =
                    !isSame(there, value(name, of: item))
                    && !isSame(there, info.originalValues[name] ?? nil)
                if isPending, !isChangedThere {
                    info.updatedPendingLocalRecord.setObject(pending?.object(forKey: name), forKey: name)
                } else {
                    set(name, of: &item, to: there)
                }
            }
            if pending?.changedKeys().contains("build") ?? false {
                info.updatedPendingLocalRecord.setObject(pending?.object(forKey: "build"), forKey: "build")
            }
            try transaction.setObject(item, forKey: key, inCollection: collection)
        }
    }

    private static func value(_ name: String, of item: Item) -> (any CKRecordValueProtocol)? {
        switch name {
        case "count": item.count
        case "text": item.text
        default: item.note
        }
    }

    private static func set(_ name: String, of item: inout Item, to value: (any CKRecordValueProtocol)?) {
        switch name {
        case "count": item.count = value as? Int ?? 0
        case "text": item.text = value as? String ?? ""
        default: item.note = value as? String
        }
    }

    private static func isSame(
        _ left: (any CKRecordValueProtocol)?, _ right: (any CKRecordValueProtocol)?
    ) -> Bool {
        left.map { RecordFieldValue($0) } == right.map { RecordFieldValue($0) }
    }

    // MARK: The sync

    /// One round of what the app does: the zone, a fetch when one is due, and then the uploads go on.
    /// - Returns: What the cloud refused.
    package func round(_ runScheduler: () -> Void) throws -> [CKError] {
        if !hasZone {
            if let error = makeZone() { return [error] }
            hasZone = true
        }
        if needsFetch {
            if let error = try fetch() { return [error] }
            needsFetch = false
            while cloudKit.suspendCount > 0 { cloudKit.resume() }
        }
        runScheduler()
        let met = errors.withLock { errors in
            defer { errors = [] }
            return errors
        }
        if !met.isEmpty { needsFetch = true }
        return met
    }

    /// Says that something changed elsewhere.
    package func noteRemoteChange() {
        needsFetch = true
    }

    private func makeZone() -> CKError? {
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: Self.zoneID)])
        let result = Lock<CKError?>(CKError(.serverResponseLost, "no answer"))
        operation.modifyRecordZonesResultBlock = { outcome in
            result.withLock { result in
                switch outcome {
                case .success: result = nil
                case .failure(let error): result = error as? CKError
                }
            }
        }
        cloud.add(operation)
        return result.withLock { $0 }
    }

    /// Fetches page after page; each with its token in one transaction.
    private func fetch() throws -> CKError? {
        while true {
            let token = try connection.blocking.read { transaction in
                try transaction.ext(Self.name, as: YapDatabaseCloudKit.self)
                    .token(forZone: Self.zoneID, databaseIdentifier: nil)
            }
            let page = FetchedPage.fetch(from: cloud, Self.zoneID, since: token)
            if let error = page.error { return error }
            try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(Self.name, as: YapDatabaseCloudKit.self)
                for recordID in page.deleted { try Self.delete(recordID, transaction, ext) }
                for record in page.changed { try Self.apply(record, transaction, ext) }
                try ext.setToken(page.token, forZone: Self.zoneID, databaseIdentifier: nil)
            }
            if !page.moreComing { return nil }
        }
    }

    private static func delete(
        _ recordID: CKRecord.ID, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        for row in try ext.removeRemotelyDeletedRecord(recordID, databaseIdentifier: nil) {
            try transaction.removeObject(forKey: row.key, inCollection: row.collection)
        }
    }

    private static func apply(
        _ record: CKRecord, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        let known = try ext.recordChangeTag(forRecordID: record.recordID, databaseIdentifier: nil)
        if let tag = known.recordChangeTag, tag == record.recordChangeTag { return }
        let hasRow = try ext.containsRecordID(record.recordID, databaseIdentifier: nil)
        if hasRow || known.hasPendingModifications {
            return try ext.mergeRecord(record, databaseIdentifier: nil)
        }
        if known.hasPendingDelete { return }
        var item = Item()
        for name in fieldNames { set(name, of: &item, to: record.object(forKey: name)) }
        let key = record.recordID.recordName
        try ext.attachRecord(
            record, databaseIdentifier: nil, forKey: key, inCollection: collection, shouldUploadRecord: false)
        try transaction.setObject(item, forKey: key, inCollection: collection)
    }
}
