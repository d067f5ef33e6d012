public import CloudKit
internal import CloudWire
internal import Yap

/// Pending change-sets of the current account, in the snapshot of this transaction and including its own changes.
extension YapDatabaseCloudKitTransaction {
    /// Returns the pending change-sets, the oldest commit first, with all values.
    public func pendingChangeSets() throws -> [YDBCKChangeSet] {
        try pendingChangeSets(limit: .max)
    }

    /// Returns a page of the pending change-sets, the oldest commit first.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of change-sets.
    ///   - previous: The last change-set of the previous page, which may have been sent meanwhile; nil for the first
    ///     page.
    public func pendingChangeSets(limit: Int, after previous: YDBCKChangeSet? = nil) throws
        -> [YDBCKChangeSet]
    {
        try tables.queue.changeSets(
            after: previous?.sequence ?? 0, limit: limit, account: tables.accounts.currentAccount()
        )
        .map { try changeSet($0) }
    }

    /// Returns the change-set that is being uploaded, or the next one, or nil if none is pending.
    public func currentChangeSet(databaseIdentifier: String?) throws -> YDBCKChangeSet? {
        try tables.queue.oldestChangeSet(databaseKey(databaseIdentifier)).map { try changeSet($0) }
    }

    /// Returns a page of the pending change-sets, by names only.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of change-sets.
    ///   - previous: The last change-set of the previous page, which may have been sent meanwhile; nil for the first
    ///     page.
    public func pendingChangeSetSummaries(
        limit: Int, after previous: YDBCKChangeSetSummary? = nil
    ) throws -> [YDBCKChangeSetSummary] {
        let sets = try tables.queue.changeSets(
            after: previous?.sequence ?? 0, limit: limit, account: tables.accounts.currentAccount())
        return try sets.map { set in
            let names = try tables.recordIDs(in: set.sequence)
            return YDBCKChangeSetSummary(
                uuid: set.uuid, databaseIdentifier: set.database.identifier, isInFlight: set.isInFlight,
                recordIDsToSave: names.filter { $0.kind == .save }.map(\.recordID),
                recordIDsToDelete: names.filter { $0.kind == .delete }.map(\.recordID), sequence: set.sequence
            )
        }
    }

    private func changeSet(_ set: ChangeSetRow) throws -> YDBCKChangeSet {
        var saves: [CKRecord] = []
        var deletions: [CKRecord.ID] = []
        var originals: [CKRecord.ID: [String: Field]] = [:]
        for waiting in try tables.queue.changes(in: set.sequence) {
            // A change that can't be read is listed among the quarantined changes.
            guard !waiting.isDamaged, let row = try tables.records.record(id: waiting.record),
                let record = try? row.base()
            else { continue }
            if waiting.kind == .delete {
                deletions.append(row.recordID)
                continue
            }
            let change = try rowValues.restored(waiting, of: row)
            record.setFields(change.fields)
            saves.append(record)
            originals[row.recordID] = change.originals
        }
        return YDBCKChangeSet(
            uuid: set.uuid, databaseIdentifier: set.database.identifier, isInFlight: set.isInFlight,
            recordsToSave: saves, recordIDsToDelete: deletions, originals: originals, sequence: set.sequence)
    }

    // MARK: Counts

    /// Returns the number of pending change-sets, including those that are being uploaded. Takes constant time, as
    /// the other counts.
    public func numberOfPendingChangeSets() throws -> Int { try tables.changeSetCounts().changeSets }

    /// Returns the number of change-sets that are being uploaded, up to one for each database.
    public func numberOfInFlightChangeSets() throws -> Int { try tables.changeSetCounts().inFlightChangeSets }

    /// Returns the number of pending change-sets that aren't being uploaded.
    public func numberOfQueuedChangeSets() throws -> Int { try numberOfChangeSets().queued }

    /// Returns the number of change-sets that are being uploaded, and of the other pending ones, both at one
    /// moment.
    public func numberOfChangeSets() throws -> (inFlight: Int, queued: Int) {
        let count = try tables.changeSetCounts()
        return (count.inFlightChangeSets, count.changeSets - count.inFlightChangeSets)
    }

    /// Returns the number of changes of records that are pending, without quarantined ones.
    public func numberOfPendingChanges() throws -> Int { try tables.changeSetCounts().pending }

    /// Returns the number of quarantined changes of records.
    public func numberOfQuarantinedChanges() throws -> Int { try tables.changeSetCounts().quarantinedCount }

    // MARK: Quarantine

    /// Returns the quarantined changes, the oldest first.
    /// - Parameter limit: Maximum number of changes.
    public func quarantinedChanges(limit: Int = 100) throws -> [YDBCKQuarantinedChange] {
        try tables.quarantinedChanges(account: tables.accounts.currentAccount(), limit: limit)
    }

    /// Deletes the quarantined changes of a record. The app's row stays as it is. If the record was never on the
    /// server, the row no longer stands for it, and the row's next change creates a new record.
    /// - Returns: Whether the record had quarantined changes.
    @discardableResult
    public func discardQuarantinedChanges(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> Bool {
        try writing { _ in
            var isAny = false
            for row in try tables.records.records(recordID, databaseKey(databaseIdentifier)) {
                var isDiscarded = false
                for change in try tables.queue.changesInRowsOrQuarantine(of: row.id)
                where change.quarantineCode != nil {
                    for key in change.keys {
                        log.note(
                            row, key, .superseded, kind: .lost, dropped: change.fields[key], kept: nil)
                    }
                    try queue.remove(change)
                    isDiscarded = true
                }
                isAny = isAny || isDiscarded
                // Else the row's next change would create the record with the changed fields only.
                if isDiscarded, row.ownerCount > 0, row.changeTag == nil, try !tables.queue.hasChanges(row.id)
                {
                    _ = try tracker.forget(row, rule: .superseded)
                }
                try tables.records.removeRecordIfUnused(row.id)
            }
            return isAny
        }
    }

    // MARK: Removing everything

    /// Removes all rows of all collections.
    ///
    /// `removeAllObjectsInAllCollections()` of the transaction itself deletes nothing in the cloud.
    /// - Parameter removal: What happens to the records in the cloud.
    public func removeAllObjectsInAllCollections(inCloud removal: YapDatabaseCloudKit.Removal) throws {
        try writing { transaction in
            try tracker.deletingRemovedRecords(removal == .delete) {
                try transaction.removeAllObjectsInAllCollections()
            }
        }
    }

}

extension YapDatabaseCloudKit {
    /// What happens in the cloud when all rows are removed.
    public enum Removal: Sendable, CaseIterable {
        /// Nothing is deleted there. Changes that were queued before are still uploaded.
        case detach
        /// All records with rows are deleted, even if a row was detached before without deletion.
        case delete
    }
}
