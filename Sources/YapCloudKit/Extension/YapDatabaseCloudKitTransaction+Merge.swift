public import CloudKit
internal import CloudWire
internal import Yap

/// Bringing a remote version and the queue together.
extension YapDatabaseCloudKitTransaction {
    /// Merges the server's version of a record: asks the merge block, takes what it doesn't want uploaded out
    /// of the queue, and stores the new tag, all in this transaction. Does nothing when no row stands for the
    /// record and nothing waits for it, nor for a version that an answer to a save from here has overtaken since the
    /// token of its page was read: what the server has is known by that answer, or comes with the next page.
    public func mergeRecord(_ remoteRecord: CKRecord, databaseIdentifier: String?) throws {
        let database = try databaseKey(databaseIdentifier)
        if try !isOvertaken(remoteRecord, database) { try mergeRecord(remoteRecord, database) }
    }

    func mergeRecord(_ remoteRecord: CKRecord, _ database: DatabaseKey) throws {
        try writing { transaction in
            let lives = try tables.records.records(remoteRecord.recordID, database)
            let deleted = try tables.queue.lifeToDelete(lives)
            let live = lives.last { $0.ownerCount > 0 }
            guard
                let row = try deleted ?? live
                    ?? lives.first(where: { try !tables.queue.changes(of: $0.id).isEmpty })
            else { return }
            try merge(remoteRecord, into: row, transaction)
        }
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

    /// - Parameter isKnown: Whether the row knew this version before: then nobody else has changed anything since.
    func merge(
        _ remote: CKRecord, into row: RecordRow, isKnown: Bool = false,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try noteFetchedRows()
        // The block may write the rows that hold values of the queue.
        for change in try tables.queue.specialChanges(of: row.id) {
            try storeValues(of: change, row) { _ in true }
        }
        let pending = try tables.queue.changes(of: row.id).filter { $0.kind == .save }
        var values: [String: Field] = [:]
        for change in pending { values.merge(change.fields) { _, new in new } }
        let remoteFields = try remote.allFields()
        var originals = try self.originals(of: pending, remote: remoteFields)
        if remote.recordChangeTag == row.changeTag {
            // The server has nothing new: what it has is what the changes were made from, where nobody said it.
            for key in values.keys where originals[key] == nil {
                originals[key] = remoteFields[key] ?? .cleared
            }
        }
        let updated = try remote.withoutValues()
        var combined: Set<String> = []
        if row.ownerCount > 0 || !pending.isEmpty {
            let info = YDBCKMergeInfo(
                pendingLocalRecord: try pending.isEmpty
                    ? nil : remote.withoutValues().with(values),
                updatedPendingLocalRecord: updated,
                originalValues: originals.mapValues { field in
                    field.value?.cloudObject(in: remote.recordID.zoneID)
                }, isKnown: isKnown)
            try callMergeBlock(remote, info, row, transaction)
            combined = info.combinedKeys
        }
        // What the block did to other rows, or to this one's record by hand, is there already.
        guard var row = try tables.records.record(id: row.id) else { return }
        if row.changeTag != remote.recordChangeTag { try tables.queue.renameWrites(of: row) }
        row.changeTag = remote.recordChangeTag
        row.system = try remote.systemBytes()
        try tables.records.updateRecord(row)
        let waiting = try tables.queue.changes(of: row.id).filter { $0.kind == .save }
        try rewriteQueue(
            of: row, waiting, updated: try updated.changedFields(), remote: remoteFields, combined: combined)
    }

    private func callMergeBlock(
        _ remote: CKRecord, _ info: YDBCKMergeInfo, _ row: RecordRow,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let owners = try identities(of: row)
        guard !owners.isEmpty else { return try cloudKit.mergeBlock(transaction, nil, nil, remote, info) }
        let before = rowsInMerge
        rowsInMerge.formUnion(owners.map(\.rowID))
        defer { rowsInMerge = before }
        for owner in owners {
            try cloudKit.mergeBlock(transaction, owner.collection, owner.key, remote, info)
        }
    }

    /// Leaves in the queue what the block wants uploaded: an entry keeps a key only with the value that the
    /// block gave; what stands in no entry becomes a new change. What the server had before is now the remote
    /// version.
    ///
    /// - Parameter combined: Keys with a value that has the changes of both sides.
    func rewriteQueue(
        of row: RecordRow, _ pending: [ChangeRow], updated: [String: Field], remote: [String: Field],
        combined: Set<String> = []
    ) throws {
        isQueueTouched = true
        takenOver[row.id] = nil
        // What a value that stays was changed from: the server's, or an earlier value that stays.
        var before = remote
        func original(_ key: String) -> Field { before[key] ?? .cleared }
        let originals = try self.originals(of: pending, remote: remote)
        var missing = updated
        for var change in pending {
            var kept: [String: Field] = [:]
            for (key, field) in change.fields.sorted(by: { $0.key < $1.key }) {
                if !field.says(remote[key]), try mayBeOnServer(key, change, pending, updated) {
                    kept[key] = field
                } else if let wanted = updated[key], wanted.says(field) {
                    kept[key] = field
                    missing[key] = nil
                    let isChangedRemotely = originals[key].map { !$0.says(remote[key] ?? .cleared) } ?? false
                    if isChangedRemotely {
                        let kind: CloudMergeLogEntry.Kind = combined.contains(key) ? .combined : .lost
                        logDrop(row, key, .localKept, kind: kind, dropped: remote[key], kept: field)
                    }
                } else if !field.says(remote[key]) {
                    let newest = pending.last { $0.fields[key] != nil }?.fields[key]
                    let rule = rule(for: key, field, updated, newest: newest)
                    let kept = rule == .superseded ? newest : updated[key] ?? remote[key]
                    let kind = kind(of: rule, kept, remote[key], isCombined: combined.contains(key))
                    logDrop(row, key, rule, kind: kind, dropped: field, kept: kept)
                }
            }
            if kept.isEmpty, change.restore.isEmpty, !change.isDamaged {
                try remove(change)
            } else {
                try noteChange(of: change)
                change.fields = kept
                // A value that no row gives back was not merged: it is still changed from what it was changed from.
                change.originals = change.originals.filter { change.restore[$0.key] != nil }
                for key in kept.keys { change.originals[key] = original(key) }
                before.merge(kept) { _, later in later }
                try tables.queue.updateChange(change)
            }
        }
        // A record that is deleted next has no use for it, and mustn't come back with it.
        let isDeleted = try tables.queue.changes(of: row.id).contains { $0.kind == .delete }
        if !missing.isEmpty, !isDeleted {
            try queueSave(
                row, missing, originals: missing.reduce(into: [:]) { $0[$1.key] = original($1.key) })
        }
        try tables.records.removeRecordIfUnused(row.id)
    }

    /// Whether a value that a later one of this device takes the place of was handed to an operation. It stays before
    /// the later one: when the server turns out to have it, that is no change of another device.
    private func mayBeOnServer(
        _ key: String, _ change: ChangeRow, _ pending: [ChangeRow], _ updated: [String: Field]
    ) throws -> Bool {
        guard let newest = pending.last(where: { $0.fields[key] != nil }), newest.id != change.id,
            let wanted = updated[key], let value = newest.fields[key], wanted.says(value)
        else { return false }
        return try tables.queue.wasInFlight(change.sequence)
    }

    /// What the pending values were changed from, as far as it is known: the earliest original of each key. A queued
    /// value that went out and that the server has was sent from here, and the answer got lost: it is no change of
    /// another device, but what the later values of this device were changed from.
    func originals(of pending: [ChangeRow], remote: [String: Field]) throws -> [String: Field] {
        var originals: [String: Field] = [:]
        var known: Set<String> = []
        for change in pending {
            originals.merge(change.originals.filter { !known.contains($0.key) }) { old, _ in old }
            known.formUnion(change.keys)
        }
        for change in pending where try tables.queue.wasInFlight(change.sequence) {
            for (key, field) in change.fields where field.says(remote[key]) { originals[key] = field }
        }
        return originals
    }

    /// Why a pending value is not sent.
    private func rule(
        for key: String, _ field: Field, _ updated: [String: Field], newest: Field?
    ) -> CloudMergeLogEntry.Rule {
        if let newest, !newest.says(field) { return .superseded }
        return updated[key] == nil ? .remoteWon : .merged
    }

    /// What became of a pending value that is not sent.
    private func kind(
        of rule: CloudMergeLogEntry.Rule, _ kept: Field?, _ remote: Field?, isCombined: Bool
    ) -> CloudMergeLogEntry.Kind {
        if rule == .superseded { return .superseded }
        // If a rule of the app returns the server's value, this device's is lost. Any other value is made of both.
        return isCombined || !(kept ?? .cleared).says(remote) ? .combined : .lost
    }
}

extension CKRecord {
    /// The system fields alone.
    func withoutValues() throws -> CKRecord {
        try CKRecord.restored(
            type: recordType, recordID: recordID, changeTag: recordChangeTag, system: try systemBytes())
    }

    fileprivate func with(_ fields: [String: Field]) -> CKRecord {
        setFields(fields)
        return self
    }
}
