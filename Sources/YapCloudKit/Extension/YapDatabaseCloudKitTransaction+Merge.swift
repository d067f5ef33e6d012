public import CloudKit

/// Bringing a remote version and the queue together.
extension YapDatabaseCloudKitTransaction {
    /// Merges the server's version of a record: asks the merge block, takes what it doesn't want uploaded out
    /// of the queue, and stores the new tag, all in this transaction. Does nothing when no row stands for the
    /// record and nothing waits for it, nor for a version that an answer to a save from here has overtaken since the
    /// token of its page was read: what the server has is known by that answer, or comes with the next page.
    public func mergeRecord(_ remoteRecord: CKRecord, databaseIdentifier: String?) throws {
        let database = try databaseKey(databaseIdentifier)
        guard try !isOvertaken(remoteRecord, database) else { return }
        try writing { _ in try merges.mergeRecord(remoteRecord, database) }
    }

    /// Whether a fetched version of a record is older than what the server answered to a save or a deletion by this
    /// device while the page was being fetched: it confirmed that, or showed its own version in a conflict. Skip such a
    /// record, and make no row of it: the server's current version is known here already, or comes with the next page.
    ///
    /// Ask it of each record of a page in the transaction that applies the page; `mergeRecord` asks it itself. The
    /// extension knows that a fetch begins by `token(forZone:databaseIdentifier:)`.
    public func isOvertaken(_ record: CKRecord, databaseIdentifier: String?) throws -> Bool {
        try isOvertaken(record, databaseKey(databaseIdentifier))
    }

    /// Whether a fetched deletion of a record may be older than a save by this device: one that the server answered
    /// while the page was being fetched, or the first one of a record, which is not answered yet. Likewise its absence
    /// at the end of a full fetch, and a deletion of a record that this device is deleting: another device may have
    /// made it again, and this device's deletion come after that. Don't apply such a page, and don't store its token:
    /// fetch it again.
    ///
    /// Ask it of each deletion of a page in the transaction that applies the page, and at the end of a full fetch of
    /// each record that is here and wasn't among those fetched, also of one that has no change tag yet. The extension
    /// knows that a fetch begins by `token(forZone:databaseIdentifier:)`: read the token by that call again before you
    /// fetch again.
    public func isDeletionUncertain(
        of recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> Bool {
        let database = try databaseKey(databaseIdentifier)
        if cloudKit.writes.mayHaveHad(recordID, in: database) { return true }
        // The answer shows the server's version from before the deletion or after it, and the tag can't tell.
        return try tables.records.records(recordID, database).contains { life in
            try tables.queue.changes(of: life.id).contains { change in
                guard change.kind == .delete || life.changeTag == nil else { return false }
                return try tables.queue.isInFlight(change.sequence)
            }
        }
    }

    private func isOvertaken(_ record: CKRecord, _ database: DatabaseKey) throws -> Bool {
        switch cloudKit.writes.outcome(of: record.recordID, in: database) {
        case nil: return false
        case .deleted(let lastModification):
            // What another device made of the name since then is newer than all that was known here.
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
