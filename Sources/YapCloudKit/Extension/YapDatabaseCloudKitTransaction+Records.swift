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
        return try handled.names(of: row)
    }

    /// The record that a row stands for, or nil.
    public func recordID(
        forKey key: String, inCollection collection: String
    ) throws -> (recordID: CKRecord.ID, databaseIdentifier: String?)? {
        try handled.owner(key, collection).map { ($0.recordID, $0.database.identifier) }
    }

    /// A copy of the record: the system fields, and in a write transaction the values that it has changed so
    /// far.
    public func record(forRecordID recordID: CKRecord.ID, databaseIdentifier: String?) throws -> CKRecord? {
        try tables.records.liveRecord(recordID, databaseKey(databaseIdentifier)).map {
            try tracker.recordInTransaction($0)
        }
    }

    /// A copy of the record that a row stands for, as `record(forRecordID:databaseIdentifier:)`.
    public func record(forKey key: String, inCollection collection: String) throws -> CKRecord? {
        try handled.owner(key, collection).map { try tracker.recordInTransaction($0) }
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

    // MARK: Tying

    /// Makes a row stand for a record: one that is there, or one that is inserted later in this transaction,
    /// for which the handler then isn't asked.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - databaseIdentifier: Identifier of the CloudKit database, or nil for the default one.
    ///   - key: Key of the row.
    ///   - collection: Collection of the objects.
    ///   - shouldUploadRecord: Whether the record's changed values are queued. If not, only its system
    ///     fields are taken; for a record that comes from the server.
    /// - Returns: false when the row stands for another record: detach it first.
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

    /// Ends that a row stands for a record. The row stays.
    ///
    /// When it was the record's last row: after a remote deletion nothing of the record is sent any more;
    /// else it is deleted on the server, unless every row that stood for it was detached without upload.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - collection: Collection of the objects.
    ///   - wasRemoteDeletion: Whether the record is gone on the server.
    ///   - shouldUploadDeletion: Whether the record shall be deleted there.
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
            try recorder.queueSave(row, try record.changedFields(), originals: [:])
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
