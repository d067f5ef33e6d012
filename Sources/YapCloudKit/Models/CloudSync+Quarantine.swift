public import CloudKit
internal import Yap

/// What was put aside, because the server refuses it or because nobody can read it, and what the app does about it.
extension CloudSync {
    /// The changes that were put aside, the oldest first, each with the reason.
    ///
    /// - Parameter limit: The most changes.
    /// - Throws: `YapDatabaseError`, when the file can't be read.
    public func quarantinedChanges(limit: Int = 100) async throws -> [YDBCKQuarantinedChange] {
        try await connection.read { [registeredName] transaction in
            try transaction.ext(registeredName, as: YapDatabaseCloudKit.self).quarantinedChanges(limit: limit)
        }
    }

    /// Gives up what was put aside of a record. The object is what the server has again: its zone is fetched anew for
    /// that. An object that the server never had stays on this device alone, until it is set again.
    ///
    /// ```swift
    /// for change in try await sync.quarantinedChanges() {
    ///     try await sync.discardQuarantinedChanges(forRecordID: change.recordID)
    /// }
    /// ```
    /// To keep the change instead, set the object again with values that the server takes, or remove it and set it
    /// under another key. `retry()` sends all as it is.
    ///
    /// - Returns: Whether anything was put aside of the record.
    /// - Throws: `YapDatabaseError`, when it could not be written. Nothing is given up then.
    @discardableResult
    public func discardQuarantinedChanges(forRecordID recordID: CKRecord.ID) async throws -> Bool {
        let isDiscarded = try await connection.readWrite { [registeredName] transaction in
            let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
            guard try ext.discardQuarantinedChanges(forRecordID: recordID, databaseIdentifier: nil) else {
                return false
            }
            // The change's values are in the object too, and no page would bring the server's: nothing is new there.
            try ext.beginFullFetch(recordID.zoneID, try ext.databaseKey(nil), .expired)
            return true
        }
        if isDiscarded { cloudKit.runner.post(.remoteChange(DatabaseKey(nil), recordID.zoneID)) }
        return isDiscarded
    }
}
