import CloudKit
import Yap
import YapCloudKit

/// The blocks of the documents' sample app, as they stand there.
enum SeedsBlocks {
    static let recordHandler: YapDatabaseCloudKitRecordHandler = .withObject {
        _, record, recordInfo, _, _, object in
        // We're only syncing todo items (for now)
        guard let todo = object as? MyTodo else { return }

        if record != nil  // not a newly inserted object
            && !todo.hasChangedCloudProperties  // no sync'd properties changed in the todo
            && recordInfo.keysToRestore == nil  // and we don't need to restore "truth" values
        {
            // Thus we don't have any changes we need to push to the cloud
            return
        }

        // The CKRecord will be nil when we first insert an object into the database.
        // Or if we've never included this item for syncing before.
        //
        // Otherwise we'll be handed a base CKRecord, with only the proper CKRecordID
        // and the sync metadata set.
        let isNewRecord = record == nil
        let todoRecord =
            record
            ?? CKRecord(
                recordType: "todo", recordID: CKRecord.ID(recordName: todo.uuid, zoneID: SeedsApp.zoneID))
        record = todoRecord

        let cloudKeys: Set<String>
        if let keysToRestore = recordInfo.keysToRestore {
            // We need to restore "truth" values for YapDatabaseCloudKit.
            // This happens when the extension is restarted,
            // and it needs to restore its change-set queue (to pick up where it left off).
            cloudKeys = keysToRestore
        } else if isNewRecord {
            // This is a CKRecord for a newly inserted todo item.
            // So we want to get every single property,
            // including those that are read-only, and may have been set directly via the init method.
            cloudKeys = todo.allCloudProperties
        } else {
            // We changed one or more properties of our Todo item.
            // So we need to copy these changed values into the CKRecord.
            // That way YapDatabaseCloudKit can handle syncing it to the cloud.
            cloudKeys = todo.changedCloudProperties

            // We can also instruct YapDatabaseCloudKit to store the originalValues for us.
            // This is optional, but comes in handy if we run into conflicts.
            recordInfo.originalValues = todo.originalCloudValues
        }

        for cloudKey in cloudKeys {
            todoRecord[cloudKey] = todo.cloudValue(forCloudKey: cloudKey)
        }
    }

    static let mergeBlock: YapDatabaseCloudKit.MergeBlock = {
        transaction, collection, key, remoteRecord, mergeInfo in
        guard remoteRecord.recordType == "todo", let collection, let key,
            let stored = try transaction.object(MyTodo.self, forKey: key, inCollection: collection)
        else { return }
        let todo = stored.copy()  // make mutable copy

        // CloudKit doesn't tell us exactly what changed.
        // We're just being given the latest version of the CKRecord.
        // So it's up to us to figure out what changed.
        let remoteChangedKeys = todo.allCloudProperties.filter { key in
            if remoteRecord.has(todo.cloudValue(forCloudKey: key), forKey: key) { return false }
            guard let originalLocalValue = mergeInfo.originalValues[key] else { return true }
            return !remoteRecord.has(originalLocalValue, forKey: key)
        }

        var localChangedKeys = Set(mergeInfo.pendingLocalRecord?.changedKeys() ?? [])

        for remoteChangedKey in remoteChangedKeys {
            todo.setLocalValue(
                fromCloudValue: remoteRecord.object(forKey: remoteChangedKey), forCloudKey: remoteChangedKey)
            localChangedKeys.remove(remoteChangedKey)
        }
        for localChangedKey in localChangedKeys {
            mergeInfo.updatedPendingLocalRecord[localChangedKey] =
                mergeInfo.pendingLocalRecord?.object(forKey: localChangedKey)
        }

        try transaction.setObject(todo, forKey: key, inCollection: collection)
    }
}
