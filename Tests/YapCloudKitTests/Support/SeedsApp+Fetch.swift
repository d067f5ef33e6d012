import CloudKit
import System
import Yap
import YapCloudKit

/// The documents' fetch of the other devices' changes.
extension SeedsApp {
    enum FetchResult { case newData, noData, failed }

    /// The sample of the documents: one page, and the next while more is coming.
    func fetchRecordChanges(
        completionHandler: @escaping @Sendable (FetchResult, _ moreComing: Bool) -> Void
    ) {
        let connection = self.connection
        let serverChangeToken = try? connection.blocking.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .token(forZone: SeedsApp.zoneID, databaseIdentifier: nil)
        }
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: serverChangeToken)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [SeedsApp.zoneID], configurationsByRecordZoneID: [SeedsApp.zoneID: configuration])
        operation.fetchAllChanges = false

        let deletedRecordIDs = Lock<[CKRecord.ID]>([])
        let changedRecords = Lock<[CKRecord]>([])

        operation.recordWithIDWasDeletedBlock = { recordID, _ in
            deletedRecordIDs.withLock { $0.append(recordID) }
        }
        operation.recordWasChangedBlock = { _, result in
            if let record = try? result.get() { changedRecords.withLock { $0.append(record) } }
        }
        operation.recordZoneFetchResultBlock = { _, result in
            guard case .success((let serverChangeToken, _, let moreComing)) = result else {
                return completionHandler(.failed, false)
            }
            let deleted = deletedRecordIDs.withLock { $0 }
            let changed = changedRecords.withLock { $0 }
            do {
                try connection.blocking.readWrite { transaction in
                    try Self.apply(deleted, changed, serverChangeToken, transaction)
                }
            } catch {
                return completionHandler(.failed, moreComing)
            }
            completionHandler(deleted.isEmpty && changed.isEmpty ? .noData : .newData, moreComing)
        }
        container.privateCloudDatabase.add(operation)
    }

    private static func apply(
        _ deletedRecordIDs: [CKRecord.ID], _ changedRecords: [CKRecord],
        _ serverChangeToken: CKServerChangeToken,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let cloudKit = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)

        // Handle items that were deleted
        for recordID in deletedRecordIDs {
            for ck in try cloudKit.collectionKeys(forRecordID: recordID, databaseIdentifier: nil) {
                // This MUST go FIRST (A)
                try cloudKit.detachRecord(
                    forKey: ck.key, inCollection: ck.collection, wasRemoteDeletion: true,
                    shouldUploadDeletion: false)

                // This MUST go SECOND  (B)
                try transaction.removeObject(forKey: ck.key, inCollection: ck.collection)
            }
        }

        // Handle items that were inserted or modified
        for record in changedRecords {
            guard record.recordType == "todo" else {
                // Ignore unknown record types.
                // These are probably from a future version that this version doesn't support.
                continue
            }
            let (recordChangeTag, hasPendingModifications, hasPendingDelete) =
                try cloudKit.recordChangeTag(forRecordID: record.recordID, databaseIdentifier: nil)

            if let recordChangeTag {
                if recordChangeTag == record.recordChangeTag {
                    // We're the one who changed this record.
                    // So we can quietly ignore it.
                } else {
                    try cloudKit.mergeRecord(record, databaseIdentifier: nil)
                }
            } else if hasPendingModifications {
                // We're not actively managing this record anymore (we deleted/detached it).
                // But there are still previous modifications that are pending upload to server.
                // So this merge is required in order to keep everything running properly
                // (no infinite loops).
                try cloudKit.mergeRecord(record, databaseIdentifier: nil)
            } else if !hasPendingDelete {
                let newTodo = MyTodo(record: record)

                // This MUST go FIRST (D)
                try cloudKit.attachRecord(
                    record, databaseIdentifier: nil, forKey: newTodo.uuid, inCollection: "todos",
                    shouldUploadRecord: false)

                // This MUST go SECOND (E)
                try transaction.setObject(newTodo, forKey: newTodo.uuid, inCollection: "todos")
            }
        }

        // And save the serverChangeToken (in the same atomic transaction)
        try cloudKit.setToken(serverChangeToken, forZone: SeedsApp.zoneID, databaseIdentifier: nil)
    }
}
