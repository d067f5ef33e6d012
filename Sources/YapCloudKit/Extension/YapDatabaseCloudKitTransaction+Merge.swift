public import CloudKit

/// Merging of remote versions with the queue.
extension YapDatabaseCloudKitTransaction {
    /// Merges the server's version of a record: calls the merge block, removes from the queue the values that it
    /// doesn't want uploaded, and stores the new tag, all in this transaction.
    ///
    /// Does nothing if no row stands for the record and no change of it is pending. Also does nothing if the version is
    /// overtaken; see `isOvertaken(_:databaseIdentifier:)`.
    public func mergeRecord(_ remoteRecord: CKRecord, databaseIdentifier: String?) throws {
        let database = try databaseKey(databaseIdentifier)
        guard try !isOvertaken(remoteRecord, database) else { return }
        try writing { _ in try merges.mergeRecord(remoteRecord, database) }
    }

    /// Whether a fetched version of a record is overtaken: while the page was being fetched, the server responded to a
    /// save or deletion of this device with a newer version. Skip such a record, and create no row for it: the server's
    /// current version is known here already, or comes with the next page.
    ///
    /// Call it for each record of a page in the transaction that applies the page, unless you call `mergeRecord`, which
    /// checks it. Read the token of a fetch with `token(forZone:databaseIdentifier:)`, which notes that a fetch begins.
    public func isOvertaken(_ record: CKRecord, databaseIdentifier: String?) throws -> Bool {
        try isOvertaken(record, databaseKey(databaseIdentifier))
    }

    /// Whether a fetched deletion of a record may be older than a save of this device. That is so if the server
    /// responded to a save while the page was being fetched, or has not responded yet to the record's first save. It is
    /// also so if this device is deleting the record, because another device may have created it again. The same holds
    /// for a record that is missing at the end of a full fetch. Don't apply such a page, and don't store its token:
    /// fetch it again.
    ///
    /// Call it for each deletion of a page in the transaction that applies the page. At the end of a full fetch, call
    /// it for each record that is on this device and wasn't fetched, including records without a change tag. Read the
    /// token with `token(forZone:databaseIdentifier:)` before each fetch, which notes that a fetch begins.
    public func isDeletionUncertain(
        of recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> Bool {
        let database = try databaseKey(databaseIdentifier)
        if cloudKit.writes.mayHaveHad(recordID, in: database) { return true }
        // The response has the server's version from before the deletion or after it, and the tag doesn't show which.
        return try tables.records.records(recordID, database).contains { incarnation in
            try tables.queue.changes(of: incarnation.id).contains { change in
                guard change.kind == .delete || incarnation.changeTag == nil else { return false }
                return try tables.queue.isInFlight(change.sequence)
            }
        }
    }

    private func isOvertaken(_ record: CKRecord, _ database: DatabaseKey) throws -> Bool {
        switch cloudKit.writes.outcome(of: record.recordID, in: database) {
        case nil: return false
        case .deleted(let lastModification):
            // A record that another device created under the name since then is newer than all versions known here.
            guard let lastModification, let creation = record.creationDate else { return false }
            return creation <= lastModification
        case .known:
            guard let row = try tables.records.liveRecord(record.recordID, database),
                record.recordChangeTag != row.changeTag, let fetched = record.modificationDate,
                let saved = try row.base().modificationDate
            else { return false }
            return fetched < saved
        }
    }

}
