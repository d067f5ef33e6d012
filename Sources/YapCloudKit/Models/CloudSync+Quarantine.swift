public import CloudKit
internal import Yap

/// Quarantined changes: the server rejects them, or they can't be read.
extension CloudSync {
    /// Returns the quarantined changes with their reasons, the oldest first.
    ///
    /// - Parameter limit: Maximum number of changes.
    /// - Throws: `YapDatabaseError` if the file can't be read.
    public func quarantinedChanges(limit: Int = 100) async throws -> [YDBCKQuarantinedChange] {
        try await connection.read { [registeredName] transaction in
            try transaction.ext(registeredName, as: YapDatabaseCloudKit.self).quarantinedChanges(limit: limit)
        }
    }

    /// Discards the quarantined changes of a record. The object gets the server's values again, so its zone is fetched
    /// again. An object that the server never had stays on this device only, until it is set again.
    ///
    /// ```swift
    /// for change in try await sync.quarantinedChanges() {
    ///     try await sync.discardQuarantinedChanges(forRecordID: change.recordID)
    /// }
    /// ```
    /// To keep the change instead, set the object again with values that the server accepts, or remove it and set it
    /// under another key. `retry()` sends all quarantined changes again as they are.
    ///
    /// - Returns: Whether the record had quarantined changes.
    /// - Throws: `YapDatabaseError` if the removal could not be written. Then nothing is discarded.
    @discardableResult
    public func discardQuarantinedChanges(forRecordID recordID: CKRecord.ID) async throws -> Bool {
        let isDiscarded = try await connection.readWrite { [registeredName] transaction in
            let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
            guard try ext.discardQuarantinedChanges(forRecordID: recordID, databaseIdentifier: nil) else {
                return false
            }
            // The change's values are in the object too, and without a full fetch no page would bring the server's
            // values, because the record didn't change there.
            try ext.beginFullFetch(recordID.zoneID, try ext.databaseKey(nil), .expired)
            return true
        }
        if isDiscarded { cloudKit.runner.post(.remoteChange(DatabaseKey(nil), recordID.zoneID)) }
        return isDiscarded
    }
}
