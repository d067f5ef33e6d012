public import CloudKit
internal import CloudWire
internal import Yap

/// What waits to be uploaded by the current account. All of it is of this transaction's snapshot, its own changes among
/// them.
extension YapDatabaseCloudKitTransaction {
    /// What waits to be uploaded, the oldest commit first, with all values.
    public func pendingChangeSets() throws -> [YDBCKChangeSet] {
        try pendingChangeSets(limit: .max)
    }

    /// A page of what waits to be uploaded, the oldest commit first.
    ///
    /// - Parameters:
    ///   - limit: The most change-sets.
    ///   - previous: The last of the page before; nil begins. It may be gone meanwhile.
    public func pendingChangeSets(limit: Int, after previous: YDBCKChangeSet? = nil) throws
        -> [YDBCKChangeSet]
    {
        try tables.queue.changeSets(
            after: previous?.sequence ?? 0, limit: limit, account: tables.accounts.currentAccount()
        )
        .map { try changeSet($0) }
    }

    /// The change-set that is being uploaded, or is next; nil when none waits.
    public func currentChangeSet(databaseIdentifier: String?) throws -> YDBCKChangeSet? {
        try tables.queue.oldestChangeSet(databaseKey(databaseIdentifier)).map { try changeSet($0) }
    }

    /// A page of what waits, by names only.
    ///
    /// - Parameters:
    ///   - limit: The most change-sets.
    ///   - previous: The last of the page before; nil begins. It may be gone meanwhile.
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
            // What can't be read is among the quarantined changes.
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

    /// How many change-sets wait, those that are being uploaded among them. In constant time, as the other counts.
    public func numberOfPendingChangeSets() throws -> Int { try tables.changeSetCounts().changeSets }

    /// How many change-sets are being uploaded: at most one a database.
    public func numberOfInFlightChangeSets() throws -> Int { try tables.changeSetCounts().inFlightChangeSets }

    /// How many change-sets wait that aren't being uploaded.
    public func numberOfQueuedChangeSets() throws -> Int { try numberOfChangeSets().queued }

    /// How many change-sets are being uploaded, and how many wait beside them: both of one moment.
    public func numberOfChangeSets() throws -> (inFlight: Int, queued: Int) {
        let count = try tables.changeSetCounts()
        return (count.inFlightChangeSets, count.changeSets - count.inFlightChangeSets)
    }

    /// How many changes of records wait to be uploaded, without those that were put aside.
    public func numberOfPendingChanges() throws -> Int { try tables.changeSetCounts().pending }

    /// How many changes of records were put aside.
    public func numberOfQuarantinedChanges() throws -> Int { try tables.changeSetCounts().quarantinedCount }

    // MARK: What was put aside

    /// The changes that were put aside, the oldest first.
    /// - Parameter limit: The most changes.
    public func quarantinedChanges(limit: Int = 100) throws -> [YDBCKQuarantinedChange] {
        try tables.quarantinedChanges(account: tables.accounts.currentAccount(), limit: limit)
    }

    /// Deletes the quarantined changes of a record. The app's row stays as it is. If the record was never on the
    /// server, the row no longer stands for it, and the row's next change creates a new record.
    /// - Returns: Whether anything was.
    @discardableResult
    public func discardQuarantinedChanges(
        forRecordID recordID: CKRecord.ID, databaseIdentifier: String?
    ) throws -> Bool {
        try writing { _ in
            var isAny = false
            for row in try tables.records.records(recordID, databaseKey(databaseIdentifier)) {
                var isGivenUp = false
                for change in try tables.queue.specialChanges(of: row.id) where change.refusal != nil {
                    for key in change.keys {
                        log.note(
                            row, key, .superseded, kind: .lost, dropped: change.fields[key], kept: nil)
                    }
                    try queue.remove(change)
                    isGivenUp = true
                }
                isAny = isAny || isGivenUp
                // With what changes next alone it would come to the server in part.
                if isGivenUp, row.ownerCount > 0, row.changeTag == nil, try !tables.queue.hasChanges(row.id) {
                    _ = try tracker.forget(row, rule: .superseded)
                }
                try tables.records.removeRecordIfUnused(row.id)
            }
            return isAny
        }
    }

    // MARK: Removing everything

    /// Removes all rows of all collections, and says what that means in the cloud.
    ///
    /// `removeAllObjectsInAllCollections()` of the transaction itself detaches: it empties this device.
    public func removeAllObjectsInAllCollections(inCloud removal: YapDatabaseCloudKit.Removal) throws {
        try writing { transaction in
            try tracker.deletingRemovedRecords(removal == .delete) {
                try transaction.removeAllObjectsInAllCollections()
            }
        }
    }

}

extension YapDatabaseCloudKit {
    /// What the removal of all rows means in the cloud.
    public enum Removal: Sendable, CaseIterable {
        /// Nothing: this device is emptied. What was queued before still goes up.
        case detach
        /// All records that rows stood for are deleted, whatever was asked for when other rows of theirs went.
        case delete
    }
}
