public import CloudKit
internal import CloudWire
public import Yap

/// Looking records up, and tying rows to them by hand.
extension YapDatabaseCloudKitTransaction {
    // MARK: Lookups

    /// One of the rows that stand for a record, or nil.
    public func getKey(forRecordID recordID: CKRecord.ID, databaseIdentifier: String?) throws
        -> YapCollectionKey?
    {
        try collectionKeys(forRecordID: recordID, databaseIdentifier: databaseIdentifier).first
    }

    /// All rows that stand for a record.
    public func collectionKeys(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> [YapCollectionKey] {
        guard let row = try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)) else {
            return []
        }
        return try names(of: row)
    }

    /// The record that a row stands for, or nil.
    public func recordID(
        forKey key: String, inCollection collection: String
    ) throws -> (recordID: CKRecord.ID, databaseIdentifier: String?)? {
        try owner(key, collection).map { ($0.recordID, $0.database.identifier) }
    }

    /// A copy of the record: the system fields, and in a write transaction the values that it has changed so
    /// far.
    public func record(forRecordID recordID: CKRecord.ID, databaseIdentifier: String?) throws -> CKRecord? {
        try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)).map {
            try recordInTransaction($0)
        }
    }

    /// A copy of the record that a row stands for, as `record(forRecordID:databaseIdentifier:)`.
    public func record(forKey key: String, inCollection collection: String) throws -> CKRecord? {
        try owner(key, collection).map { try recordInTransaction($0) }
    }

    /// Whether any row stands for the record.
    public func containsRecordID(_ recordID: CKRecord.ID, databaseIdentifier: String?) throws -> Bool {
        try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)) != nil
    }

    /// What has to be known about a fetched record: the tag of the version that is here (nil when no row
    /// stands for the record, or it was never uploaded), and whether changes or a deletion of it wait in the
    /// queue. A fetched record with the same tag is an echo; one with changes waiting must be merged.
    ///
    /// A fetched record of which nothing but a deletion waits is passed over, because it is about to be deleted. While
    /// `numberOfInFlightChangeSets()` isn't 0, one of which a deletion waits, alone or before other changes, can't be
    /// judged: the server may have done the deletion already, and another device may have made the record again since.
    /// Roll the page's transaction back then, and fetch the page again after the upload's end.
    public func recordChangeTag(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> (recordChangeTag: String?, hasPendingModifications: Bool, hasPendingDelete: Bool) {
        let lives = try tables.records.records(recordID, databaseKey(databaseIdentifier))
        let changes = try lives.flatMap { try tables.queue.changes(of: $0.id) }
        return (
            lives.last { $0.ownerCount > 0 }?.changeTag, changes.contains { $0.kind == .save },
            changes.contains { $0.kind == .delete }
        )
    }

    func owner(_ key: String, _ collection: String) throws -> RecordRow? {
        guard let rowID = try transaction.rowID(forKey: key, inCollection: collection) else { return nil }
        return try tables.records.record(ownedBy: rowID)
    }

    func names(of row: RecordRow) throws -> [YapCollectionKey] {
        try identities(of: row).map { YapCollectionKey(collection: $0.collection, key: $0.key) }
    }

    func identities(of row: RecordRow) throws -> [YapDatabaseRowIdentity] {
        try tables.records.owners(of: row.id).compactMap { try transaction.identity(ofRowID: $0) }
    }

    // MARK: Tying

    /// Makes a row stand for a record: one that is there, or one that is inserted later in this transaction,
    /// for which the handler then isn't asked.
    ///
    /// - Parameters:
    ///   - shouldUploadRecord: Whether the record's changed values are queued. If not, only its system
    ///     fields are taken; for a record that comes from the server.
    /// - Returns: false when the row stands for another record: detach it first.
    @discardableResult
    public func attachRecord(
        _ record: CKRecord, databaseIdentifier: String?, forKey key: String, inCollection collection: String,
        shouldUploadRecord: Bool
    ) throws -> Bool {
        try attach(
            record, try databaseKey(databaseIdentifier), forKey: key, inCollection: collection,
            isUploaded: shouldUploadRecord)
    }

    /// `attachRecord`, in a database of any account.
    @discardableResult
    func attach(
        _ record: CKRecord, _ database: DatabaseKey, forKey key: String, inCollection collection: String,
        isUploaded: Bool
    ) throws -> Bool {
        if isUploaded { try RecordNames.check(record.recordID.recordName) }
        return try writing { transaction in
            if !isUploaded { try noteFetchedRows() }
            let name = YapCollectionKey(collection: collection, key: key)
            guard let rowID = try transaction.rowID(forKey: key, inCollection: collection),
                let identity = try transaction.identity(ofRowID: rowID)
            else {
                pendingAttaches[name] = PendingAttach(
                    record: record, database: database, isUploaded: isUploaded)
                return true
            }
            guard var row = try tables.records.record(ownedBy: rowID) else {
                let fields = isUploaded ? try record.changedFields() : nil
                try own(identity, record, fields, database, isFromHandler: false)
                return true
            }
            guard row.recordID == record.recordID, row.database == database else { return false }
            if isUploaded {
                try queueSave(row, try record.changedFields(), originals: [:])
            } else if record.recordChangeTag != nil {
                row.changeTag = record.recordChangeTag
                row.system = try record.systemBytes()
                try tables.records.updateRecord(row)
            }
            return true
        }
    }

    /// Makes the row that is inserted next stand for a fetched record of which nothing is known here.
    func attachNew(
        _ record: CKRecord, _ database: DatabaseKey, forKey key: String, inCollection collection: String
    ) throws {
        pendingAttaches[YapCollectionKey(collection: collection, key: key)] = PendingAttach(
            record: record, database: database, isUploaded: false, isNew: true)
    }

    /// Ends that a row stands for a record. The row stays.
    ///
    /// When it was the record's last row: after a remote deletion nothing of the record is sent any more;
    /// else it is deleted on the server, unless every row that stood for it was detached without upload.
    ///
    /// - Parameters:
    ///   - wasRemoteDeletion: Whether the record is gone on the server.
    ///   - shouldUploadDeletion: Whether the record shall be deleted there.
    public func detachRecord(
        forKey key: String, inCollection collection: String, wasRemoteDeletion: Bool,
        shouldUploadDeletion: Bool
    ) throws {
        try writing { transaction in
            if wasRemoteDeletion { try noteFetchedRows() }
            let name = YapCollectionKey(collection: collection, key: key)
            if pendingAttaches.removeValue(forKey: name) != nil { return }
            guard let rowID = try transaction.rowID(forKey: key, inCollection: collection),
                let owner = try tables.records.record(ownedBy: rowID)
            else { return }
            guard wasRemoteDeletion else {
                return try disown(rowID, owner, isDeleted: shouldUploadDeletion, lastFields: [:])
            }
            if owner.ownerCount > 1 {
                try storeValues(ofRow: rowID)
            } else {
                // The log says what is dropped, and afterwards no row can be asked for it.
                _ = try restoredChanges(of: owner)
            }
            try tables.records.unmap(rowID)
            var row = owner
            row.ownerCount -= 1
            try tables.records.updateRecord(row)
            if row.ownerCount == 0 {
                try purge(row, rule: .deletedRemotely)
                try tables.records.removeRecordIfUnused(row.id)
            }
        }
    }

    /// Queues the record's changed values, past the handler.
    ///
    /// - Returns: false when no row stands for the record.
    @discardableResult
    public func saveRecord(_ record: CKRecord, databaseIdentifier: String?) throws -> Bool {
        try writing { _ in
            guard let row = try tables.records.liveRecord(record.recordID, databaseKey(databaseIdentifier))
            else {
                return false
            }
            try queueSave(row, try record.changedFields(), originals: [:])
            return true
        }
    }

    /// Takes over that a record was deleted on the server: nothing that waited for it is sent, and no row
    /// stands for it any more. Rows that were removed here already are no obstacle. Ask `isDeletionUncertain` before.
    ///
    /// - Returns: The rows that stood for it, which the app now removes or keeps as its own.
    @discardableResult
    public func removeRemotelyDeletedRecord(
        _ recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> [YapCollectionKey] {
        try writing { _ in
            try noteFetchedRows()
            var keys: [YapCollectionKey] = []
            for row in try tables.records.records(recordID, databaseKey(databaseIdentifier)) {
                if try outlivesDeletion(row) { continue }
                keys += try forget(row, rule: .deletedRemotely)
            }
            return keys
        }
    }

    /// Whether rows stand for a life of a record that the server never saw, and that can't have ended there. One that
    /// went out and was not answered may have: it goes again, as an edit does, and the log says so.
    func outlivesDeletion(_ row: RecordRow) throws -> Bool {
        guard row.ownerCount > 0, row.changeTag == nil else { return false }
        if try mayHaveArrived(row) { logDrop(row, nil, .editBeatDeletion, dropped: nil, kept: nil) }
        try tables.queue.restartWrites(of: row)
        return true
    }

    /// Ends a life of a record without telling the server.
    func forget(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws -> [YapCollectionKey] {
        let keys = try names(of: row)
        // The log says what is dropped, and afterwards no row can be asked for it.
        _ = try restoredChanges(of: row)
        for rowID in try tables.records.owners(of: row.id) { try tables.records.unmap(rowID) }
        try purge(row, rule: rule)
        var ended = row
        ended.ownerCount = 0
        try tables.records.updateRecord(ended)
        try tables.records.removeRecordIfUnused(row.id)
        return keys
    }
}
