internal import CloudKit
internal import CloudWire
internal import SQLite
internal import Yap

/// Finds what was changed behind the sync: rows of the app, or of the extension's tables, that something else wrote.
///
/// A row is compared with what it was when it was last looked at, not with the record: a model need not hold all
/// fields, and need not give back what it was given. A record with changes that wait is left alone, as each of its
/// values is known to the queue.
extension CloudSyncMap {
    /// Rows that are looked at after a complete fetch of a zone: a small zone is covered each time.
    static let verifiedRowsMax = 250

    /// Looks at some records' rows. What is wrong is made to differ from the server's, so that a full fetch mends it.
    ///
    /// - Returns: The names of the records that are wrong.
    func verifyRows(
        in zoneID: CKRecordZone.ID, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws -> [String] {
        // What was written without the extension is found at the next registration, and uploaded.
        guard try !ext.tables.hasMissedCommits() else { return [] }
        var wrong: [String] = []
        for row in try ext.tables.nextRowsToVerify(zoneID, database, rowsMax: Self.verifiedRowsMax) {
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
            // Seen for the first time since its tag was stored. Of a save's answer the feed may not have told yet.
            if identity == row.identity, let hash = found.hash { try ext.tables.setRowHash(hash, of: row.id) }
            return true
        }
        guard let hash = found.hash else {
            try letGo(row, transaction, ext)
            return false
        }
        if identity == row.identity, hash == known { return true }
        try ext.tables.distrust(row.id)
        if let (stored, object) = found.stored {
            // The caches may hold what was there before: the merge is to see what is on the disk.
            ext.rowsInMerge.insert(stored.rowID)
            defer { ext.rowsInMerge.remove(stored.rowID) }
            try transaction.replaceObject(object, forKey: stored.key, inCollection: stored.collection)
        }
        return false
    }

    /// What the app's row gives as fields, as a hash: 0 where no single row of a model stands for the record; nil
    /// when the row is gone or can't be read.
    private func appRow(
        of row: VerifiedRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws -> (hash: Int64?, stored: (row: YapDatabaseRowIdentity, object: any Sendable)?) {
        let name = row.recordID.recordName
        guard row.ownerCount == 1, let model = model(ofType: row.recordType, in: row.recordID.zoneID)
        else { return (0, nil) }
        guard let owner = try ext.tables.ownerToVerify(of: row.id),
            let found = try transaction.identity(ofRowID: owner.rowID), found.collection == model.collection,
            RecordNames.isName(name, forKey: found.key),
            owner.nameHash == nil || owner.nameHash == found.nameHash,
            let object = try? transaction.objectOnDisk(forKey: found.key, inCollection: model.collection)
        else { return (nil, nil) }
        let content = ZoneChecksum.content(recordName: name, fields: try model.fields(object))
        return (Int64(bitPattern: content), (found, object))
    }

    /// The row is gone, or can't be read: it is made anew of what the server has.
    private func letGo(
        _ row: VerifiedRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        guard let record = try ext.tables.record(id: row.id) else { return }
        for name in try ext.forget(record, rule: .serverWasReset)
        where RecordNames.isName(row.recordID.recordName, forKey: name.key) {
            try transaction.removeObject(forKey: name.key, inCollection: name.collection)
        }
    }
}

/// A record's row as it is verified.
struct VerifiedRow {
    let id: Int64
    let recordID: CKRecord.ID
    let recordType: String
    let changeTag: String?
    let ownerCount: Int64
    let identity: UInt64
    /// A hash of what the app's row gave as fields when it was last looked at; nil since the tag or the row changed.
    let rowHash: Int64?
}

extension CloudKitTables {
    /// A tag that no server gives: a save with it meets the server's record, and a fetched record is no echo.
    private static let distrustedTag = "?"

    /// Makes the next fetch of the record count as news.
    func distrust(_ id: Int64) throws {
        try run(
            "UPDATE \(table("record")) SET change_tag = '\(Self.distrustedTag)', row_hash = NULL WHERE id = ?1",
            [.integer(id)])
    }

    /// Another version of the app gives other fields of the same row.
    func forgetRowHashes() throws {
        try run("UPDATE \(table("record")) SET row_hash = NULL WHERE row_hash IS NOT NULL")
    }

    func setRowHash(_ hash: Int64, of id: Int64) throws {
        try run("UPDATE \(table("record")) SET row_hash = ?2 WHERE id = ?1", [.integer(id), .integer(hash)])
    }

    func ownerToVerify(of record: Int64) throws -> (rowID: Int64, nameHash: Int64?)? {
        try first(
            "SELECT rowid, name_hash FROM \(table("mapping")) WHERE record = ?1", [.integer(record)]
        ) { ($0.int64(at: 0), $0.isNull(at: 1) ? nil : $0.int64(at: 1)) }
    }

    /// Whether something was committed without the extension since it was registered.
    func hasMissedCommits() throws -> Bool {
        try first(
            "SELECT 1 FROM yap2 WHERE extension = ?1 AND key = 'hasMissedCommits'", [.text(name)]
        ) { _ in true } ?? false
    }

    /// The next records of a zone for which nothing waits, round and round.
    func nextRowsToVerify(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, rowsMax: Int
    ) throws -> [VerifiedRow] {
        let last =
            try first(
                """
                SELECT verified FROM \(table("checksum"))
                WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
                """, zone(zoneID, database)
            ) { $0.text(at: 0) } ?? ""
        var found = try rowsToVerify(zoneID, database, after: last, rowsMax: rowsMax)
        if found.count < rowsMax, !last.isEmpty {
            found += try rowsToVerify(zoneID, database, after: "", rowsMax: rowsMax - found.count)
        }
        try run(
            """
            UPDATE \(table("checksum")) SET verified = ?4
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database) + [.text(found.last?.recordID.recordName ?? "")])
        return found
    }

    private func rowsToVerify(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, after name: String, rowsMax: Int
    ) throws -> [VerifiedRow] {
        try rows(
            """
            SELECT id, record_name, record_type, change_tag, owner_count, identity, row_hash
            FROM \(table("record")) AS r
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name > ?4
            AND identity IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM \(table("change")) AS c WHERE c.record = r.id)
            ORDER BY record_name, generation LIMIT ?5
            """, zone(zoneID, database) + [.text(name), .integer(Int64(rowsMax))]
        ) {
            VerifiedRow(
                id: $0.int64(at: 0), recordID: CKRecord.ID(recordName: $0.text(at: 1), zoneID: zoneID),
                recordType: $0.text(at: 2), changeTag: $0.isNull(at: 3) ? nil : $0.text(at: 3),
                ownerCount: $0.int64(at: 4), identity: UInt64(bitPattern: $0.int64(at: 5)),
                rowHash: $0.isNull(at: 6) ? nil : $0.int64(at: 6))
        }
    }
}
