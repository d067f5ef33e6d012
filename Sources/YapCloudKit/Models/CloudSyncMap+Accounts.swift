internal import CloudKit
internal import CloudWire
internal import SQLite
internal import Yap

/// Another user signs in: whose objects are here, and whose changes go where.
extension CloudSyncMap {
    /// Uses a user's account from now on.
    ///
    /// - Returns: Whether it is another user than before.
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
        // What was kept aside because another user's row had its name may have its place now.
        try deliverStash(transaction, ext)
        return true
    }

    /// Removes the rows of a user's records from this device. What waits for the user's cloud goes on waiting, and all
    /// that is there comes back when the user does: the tokens are forgotten.
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

    /// Makes rows again of what a user made here and never sent: no fetch brings it back.
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
    /// The rows of all records of a user that rows of the app stand for, or that none does.
    fileprivate func recordRows(_ database: DatabaseKey, hasOwners: Bool) throws -> [Int64] {
        try rows(
            "SELECT id FROM \(table("record")) WHERE database = ?1 AND (owner_count > 0) = ?2 ORDER BY id",
            [.text(database.column), .integer(hasOwners ? 1 : 0)]
        ) { $0.int64(at: 0) }
    }
}
