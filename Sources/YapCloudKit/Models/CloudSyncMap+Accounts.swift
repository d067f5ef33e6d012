internal import CloudKit
internal import CloudWire
internal import SQLite
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
        try ext.noteFetchedRows()
        let current = try ext.databaseKey(nil)
        if objectsOfOtherAccount == .remove {
            for account in try ext.tables.accounts() where account != current.account {
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
        for id in try ext.tables.recordRows(database, hasOwners: true) {
            guard let row = try ext.tables.record(id: id) else { continue }
            for name in try ext.names(of: row) {
                try ext.detachRecord(
                    forKey: name.key, inCollection: name.collection, wasRemoteDeletion: false,
                    shouldUploadDeletion: false)
                try transaction.removeObject(forKey: name.key, inCollection: name.collection)
            }
        }
        for zoneID in zoneIDs {
            try ext.tables.setToken(nil, zoneID, database)
            try ext.tables.setFullFetch(nil, zoneID, database)
            try ext.setMoreComing(false, zoneID, database)
            try ext.tables.clearStash(zoneID, database)
        }
    }

    /// Creates rows again for objects that the user made here and never sent: no fetch brings them back.
    private func bringBackUnsent(
        _ database: DatabaseKey, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        for id in try ext.tables.recordRows(database, hasOwners: false) {
            guard let row = try ext.tables.record(id: id), row.changeTag == nil, !row.wantsDeletion else {
                continue
            }
            let base = try row.base()
            guard let model = model(of: base) else { continue }
            let key = RecordNames.key(forName: row.recordID.recordName)
            guard try transaction.rowID(forKey: key, inCollection: model.collection) == nil else { continue }
            var fields: [String: Field] = [:]
            for change in try ext.tables.changes(of: id) { fields.merge(change.fields) { _, later in later } }
            try ext.attach(base, database, forKey: key, inCollection: model.collection, isUploaded: false)
            try model.store(transaction, key, fields)
        }
    }
}

extension CloudKitTables {
    /// Returns the records of a user that have rows of the app, or those that have none.
    fileprivate func recordRows(_ database: DatabaseKey, hasOwners: Bool) throws -> [Int64] {
        try rows(
            "SELECT id FROM \(table("record")) WHERE database = ?1 AND (owner_count > 0) = ?2 ORDER BY id",
            [.text(database.column), .integer(hasOwners ? 1 : 0)]
        ) { $0.int64(at: 0) }
    }
}
