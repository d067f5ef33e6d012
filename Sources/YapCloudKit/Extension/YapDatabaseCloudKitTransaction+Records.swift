public import CloudKit
internal import CloudWire
public import Yap

/// Lookup of records, and association of rows with records by hand.
extension YapDatabaseCloudKitTransaction {
    // MARK: Lookups

    /// Returns one of the rows that stand for a record, or nil if none does.
    public func getKey(forRecordID recordID: CKRecord.ID, databaseIdentifier: String?) throws
        -> YapCollectionKey?
    {
        try collectionKeys(forRecordID: recordID, databaseIdentifier: databaseIdentifier).first
    }

    /// Returns all rows that stand for a record.
    public func collectionKeys(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> [YapCollectionKey] {
        guard let row = try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)) else {
            return []
        }
        return try handled.names(of: row)
    }

    /// Returns the record that a row stands for, or nil.
    public func recordID(
        forKey key: String, inCollection collection: String
    ) throws -> (recordID: CKRecord.ID, databaseIdentifier: String?)? {
        try handled.owner(key, collection).map { ($0.recordID, $0.database.identifier) }
    }

    /// Returns a copy of a record with its system fields and, in a write transaction, the values that the transaction
    /// has changed so far.
    public func record(forRecordID recordID: CKRecord.ID, databaseIdentifier: String?) throws -> CKRecord? {
        try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)).map {
            try tracker.recordInTransaction($0)
        }
    }

    /// Returns a copy of the record that a row stands for, as `record(forRecordID:databaseIdentifier:)` does.
    public func record(forKey key: String, inCollection collection: String) throws -> CKRecord? {
        try handled.owner(key, collection).map { try tracker.recordInTransaction($0) }
    }

    /// Returns true if any row stands for the record.
    public func containsRecordID(_ recordID: CKRecord.ID, databaseIdentifier: String?) throws -> Bool {
        try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)) != nil
    }

    /// Returns the change tag of the version on this device, and whether changes or a deletion of the record are
    /// pending. The tag is nil if no row stands for the record, or if it was never uploaded. Call it for each fetched
    /// record: one with the same tag is an echo of an upload, and one with pending changes must be merged.
    ///
    /// Skip a fetched record if only a deletion of it is pending, because it is about to be deleted. If a deletion is
    /// pending, alone or before other changes, and `numberOfInFlightChangeSets()` isn't 0, the record can't be judged:
    /// the server may have deleted it already, and another device may have created it again since. Then roll the page's
    /// transaction back, and fetch the page again after the upload.
    public func recordChangeTag(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> (recordChangeTag: String?, hasPendingModifications: Bool, hasPendingDelete: Bool) {
        let incarnations = try tables.records.records(recordID, databaseKey(databaseIdentifier))
        let changes = try incarnations.flatMap { try tables.queue.changes(of: $0.id) }
        return (
            incarnations.last { $0.ownerCount > 0 }?.changeTag, changes.contains { $0.kind == .save },
            changes.contains { $0.kind == .delete }
        )
    }

    // MARK: Association

    /// Associates a row with a record. The row may also be inserted later in this transaction; then the record handler
    /// isn't called for it.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - databaseIdentifier: Identifier of the CloudKit database, or nil for the default one.
    ///   - key: Key of the row.
    ///   - collection: Collection of the objects.
    ///   - shouldUploadRecord: Whether the record's changed values are queued. Pass false for a record from the server:
    ///     then only its system fields are stored.
    /// - Returns: False if the row stands for another record. Detach it first.
    @discardableResult
    public func attachRecord(
        _ record: CKRecord, databaseIdentifier: String?, forKey key: String, inCollection collection: String,
        shouldUploadRecord: Bool
    ) throws -> Bool {
        let database = try databaseKey(databaseIdentifier)
        if shouldUploadRecord { try RecordNames.check(record.recordID.recordName) }
        return try writing { _ in
            try tracker.attach(
                record, database, forKey: key, inCollection: collection, isUploaded: shouldUploadRecord)
        }
    }

    /// Ends the association of a row with its record. The row stays.
    ///
    /// If it was the record's last row, the record is deleted on the server, unless all of its rows were detached
    /// without uploading the deletion. After a remote deletion, pending changes of the record are discarded instead.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - collection: Collection of the objects.
    ///   - wasRemoteDeletion: Whether the record was deleted on the server.
    ///   - shouldUploadDeletion: Whether to delete the record there.
    public func detachRecord(
        forKey key: String, inCollection collection: String, wasRemoteDeletion: Bool,
        shouldUploadDeletion: Bool
    ) throws {
        try writing { _ in
            try tracker.detach(
                forKey: key, inCollection: collection, wasRemoteDeletion: wasRemoteDeletion,
                isDeleted: shouldUploadDeletion)
        }
    }

    /// Queues the record's changed values without calling the record handler.
    ///
    /// - Returns: False if no row stands for the record.
    @discardableResult
    public func saveRecord(_ record: CKRecord, databaseIdentifier: String?) throws -> Bool {
        try writing { _ in
            guard let row = try tables.records.liveRecord(record.recordID, databaseKey(databaseIdentifier))
            else {
                return false
            }
            try recorder.queueSave(row, try record.changedFields(), originals: [:])
            return true
        }
    }

    /// Handles the deletion of a record on the server: discards its pending changes, and ends its association with
    /// rows. The rows may have been removed already. Call `isDeletionUncertain` before.
    ///
    /// - Returns: The rows that stood for the record. The app removes them, or keeps them unsynced.
    @discardableResult
    public func removeRemotelyDeletedRecord(
        _ recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> [YapCollectionKey] {
        try writing { _ in
            try zones.noteFetchedRows()
            var keys: [YapCollectionKey] = []
            for row in try tables.records.records(recordID, databaseKey(databaseIdentifier)) {
                if try tracker.outlivesDeletion(row) { continue }
                keys += try tracker.forget(row, rule: .deletedRemotely)
            }
            return keys
        }
    }

}
