internal import CloudKit
internal import CloudWire
internal import Yap

/// What happens to objects and pending changes when another user signs in.
extension CloudSyncMap {
    /// Uses a user's account from now on.
    ///
    /// - Returns: Whether the user is another one than before.
    func useAccount(
        of userRecordID: CKRecord.ID, objectsOfOtherAccount: CloudSync.OtherAccountsObjects,
        _ transaction: YapDatabaseReadWriteTransaction, _ ext: YapDatabaseCloudKitTransaction
    ) throws -> Bool {
        guard try ext.useAccount(of: userRecordID) else { return false }
        try ext.zones.noteFetchedRows()
        let current = try ext.databaseKey(nil)
        if objectsOfOtherAccount == .remove {
            for account in try ext.tables.accounts.accounts() where account != current.account {
                try removeObjects(of: DatabaseKey(nil, account: account), transaction, ext)
            }
        }
        try bringBackUnsent(current, transaction, ext)
        // Stashed records of this user may be stored now, if another user's rows had their keys.
        try deliverStash(transaction, ext)
        return true
    }

    /// Removes the rows of a user's records from this device. Pending changes still wait for the user's cloud, and all
    /// records come back when the user does, because the tokens are removed.
    private func removeObjects(
        of database: DatabaseKey, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        for id in try ext.tables.records.recordRows(database, hasOwners: true) {
            guard let row = try ext.tables.records.record(id: id) else { continue }
            for name in try ext.handled.names(of: row) {
                try ext.detachRecord(
                    forKey: name.key, inCollection: name.collection, wasRemoteDeletion: false,
                    shouldUploadDeletion: false)
                try transaction.removeObject(forKey: name.key, inCollection: name.collection)
            }
        }
        for zoneID in zoneIDs {
            try ext.tables.tokens.setToken(nil, zoneID, database)
            try ext.tables.tokens.setFullFetch(nil, zoneID, database)
            try ext.zones.setMoreComing(false, zoneID, database)
            try ext.tables.stash.clearStash(zoneID, database)
        }
    }

    /// Creates rows again for objects that the user made here and never sent: no fetch brings them back.
    private func bringBackUnsent(
        _ database: DatabaseKey, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        for id in try ext.tables.records.recordRows(database, hasOwners: false) {
            guard let row = try ext.tables.records.record(id: id), row.changeTag == nil, !row.wantsDeletion
            else {
                continue
            }
            let base = try row.base()
            guard let model = model(of: base) else { continue }
            let key = RecordNames.key(forName: row.recordID.recordName)
            guard try transaction.rowID(forKey: key, inCollection: model.collection) == nil else { continue }
            var fields: [String: Field] = [:]
            for change in try ext.tables.queue.changes(of: id) {
                fields.merge(change.fields) { _, later in later }
            }
            try ext.tracker.attach(
                base, database, forKey: key, inCollection: model.collection, isUploaded: false)
            try model.store(transaction, key, fields)
        }
    }
}
