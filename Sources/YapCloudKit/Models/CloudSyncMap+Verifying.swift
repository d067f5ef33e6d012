internal import CloudKit
internal import CloudWire
internal import Yap

/// Finds rows of the app and of the extension's tables that another program changed.
///
/// A row is compared with its state when it was last examined, not with the record: a model may not have all fields,
/// and may not return the values that it was given. A record with pending changes isn't examined, because the queue has
/// its values.
extension CloudSyncMap {
    /// Number of rows that are examined after a complete fetch of a zone. All rows of a small zone are examined each
    /// time.
    static let verifiedRowsMax = 250

    /// Examines the rows of some records. The state of wrong ones is changed so that a full fetch corrects them.
    ///
    /// - Returns: The names of the records that are wrong.
    func verifyRows(
        in zoneID: CKRecordZone.ID, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws -> [String] {
        // Commits without the extension are found at the next registration, and uploaded.
        guard try !ext.tables.registrations.hasMissedCommits() else { return [] }
        var wrong: [String] = []
        for row in try ext.tables.checksums.nextRowsToVerify(zoneID, database, rowsMax: Self.verifiedRowsMax)
        {
            if try !isSound(row, transaction, ext) { wrong.append(row.recordID.recordName) }
        }
        return wrong
    }

    private func isSound(
        _ row: VerifiedRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws -> Bool {
        let identity = row.changeTag.map {
            ZoneChecksum.identity(
                recordName: row.recordID.recordName, recordType: row.recordType, changeTag: $0)
        }
        let found = try appRow(of: row, transaction, ext)
        guard let known = row.rowHash else {
            // Examined for the first time since its tag was stored. If the tag came with a save, the server's changes
            // may not have reported it yet.
            if identity == row.identity, let hash = found.hash {
                try ext.tables.records.setRowHash(hash, of: row.id)
            }
            return true
        }
        guard let hash = found.hash else {
            try letGo(row, transaction, ext)
            return false
        }
        if identity == row.identity, hash == known { return true }
        try ext.tables.records.distrust(row.id)
        if let (stored, object) = found.stored {
            // The caches may have the values before the change, and the merge must see the values on the disk.
            ext.handled.rowsInMerge.insert(stored.rowID)
            defer { ext.handled.rowsInMerge.remove(stored.rowID) }
            try transaction.replaceObject(object, forKey: stored.key, inCollection: stored.collection)
        }
        return false
    }

    /// Returns a hash of the fields of the app's row: 0 if not exactly one row of a model belongs to the record, or nil
    /// if the row is missing or can't be read.
    private func appRow(
        of row: VerifiedRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws -> (hash: Int64?, stored: (row: YapDatabaseRowIdentity, object: any Sendable)?) {
        let name = row.recordID.recordName
        guard row.ownerCount == 1, let model = model(ofType: row.recordType, in: row.recordID.zoneID)
        else { return (0, nil) }
        guard let owner = try ext.tables.records.ownerToVerify(of: row.id),
            let found = try transaction.identity(ofRowID: owner.rowID), found.collection == model.collection,
            RecordNames.isName(name, forKey: found.key),
            owner.nameHash == nil || owner.nameHash == found.nameHash,
            let object = try? transaction.objectOnDisk(forKey: found.key, inCollection: model.collection)
        else { return (nil, nil) }
        let content = ZoneChecksum.content(recordName: name, fields: try model.fields(object))
        return (Int64(bitPattern: content), (found, object))
    }

    /// The row is missing or can't be read: it is created again with the server's values.
    private func letGo(
        _ row: VerifiedRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        guard let record = try ext.tables.records.record(id: row.id) else { return }
        for name in try ext.tracker.forget(record, rule: .serverWasReset)
        where RecordNames.isName(row.recordID.recordName, forKey: name.key) {
            try transaction.removeObject(forKey: name.key, inCollection: name.collection)
        }
    }
}

/// A record's row during the verification.
struct VerifiedRow {
    let id: Int64
    let recordID: CKRecord.ID
    let recordType: String
    let changeTag: String?
    let ownerCount: Int64
    let identity: UInt64
    /// Hash of the fields of the app's row when it was last examined, or nil if the tag or the row changed since.
    let rowHash: Int64?
}
