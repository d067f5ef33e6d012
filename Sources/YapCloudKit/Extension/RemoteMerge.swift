internal import CloudKit
internal import CloudWire
internal import Yap

/// Brings a remote version and the queue together.
struct RemoteMerge {
    let tracker: RowTracker
    var cloudKit: YapDatabaseCloudKit { tracker.cloudKit }
    var tables: CloudKitTables { tracker.tables }
    var log: MergeLog { tracker.log }
    var queue: ChangeQueue { tracker.queue }
    var handled: HandledRows { tracker.handled }
    var rowValues: RowValues { tracker.rowValues }
    var recorder: ChangeRecorder { tracker.recorder }
    var zones: ZoneFetch { tracker.zones }
    private var staged: StagedFiles { recorder.staged }

    func mergeRecord(_ remoteRecord: CKRecord, _ database: DatabaseKey) throws {
        let transaction = try handled.writer()
        let incarnations = try tables.records.records(remoteRecord.recordID, database)
        let deleted = try tables.queue.incarnationToDelete(incarnations)
        let live = incarnations.last { $0.ownerCount > 0 }
        guard
            let row = try deleted ?? live
                ?? incarnations.first(where: { try !tables.queue.changes(of: $0.id).isEmpty })
        else { return }
        try merge(remoteRecord, into: row, transaction)
    }

    /// - Parameter isKnown: Whether the row knew this version before: then nobody else has changed anything since.
    func merge(
        _ remote: CKRecord, into row: RecordRow, isKnown: Bool = false,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try zones.noteFetchedRows()
        // The block may write the rows that hold values of the queue.
        for change in try tables.queue.changesInRowsOrQuarantine(of: row.id) {
            try rowValues.storeValues(of: change, row) { _ in true }
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
        let owners = try handled.identities(of: row)
        guard !owners.isEmpty else { return try cloudKit.mergeBlock(transaction, nil, nil, remote, info) }
        try handled.merging(owners) {
            for owner in owners {
                try cloudKit.mergeBlock(transaction, owner.collection, owner.key, remote, info)
            }
        }
    }

    /// Keeps in the queue what the block wants uploaded: an entry keeps a key only with the value that the
    /// block gave; what stands in no entry becomes a new change. What the server had before is now the remote
    /// version.
    ///
    /// - Parameter combined: Keys with a value that has the changes of both sides.
    func rewriteQueue(
        of row: RecordRow, _ pending: [ChangeRow], updated: [String: Field], remote: [String: Field],
        combined: Set<String> = []
    ) throws {
        queue.touch()
        recorder.forgetTakenOver(of: row)
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
                        log.note(row, key, .localKept, kind: kind, dropped: remote[key], kept: field)
                    }
                } else if !field.says(remote[key]) {
                    let newest = pending.last { $0.fields[key] != nil }?.fields[key]
                    let rule = rule(for: key, field, updated, newest: newest)
                    let kept = rule == .superseded ? newest : updated[key] ?? remote[key]
                    let kind = kind(of: rule, kept, remote[key], isCombined: combined.contains(key))
                    log.note(row, key, rule, kind: kind, dropped: field, kept: kept)
                }
            }
            if kept.isEmpty, change.restore.isEmpty, !change.isDamaged {
                try queue.remove(change)
            } else {
                try staged.noteChange(of: change)
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
            try recorder.queueSave(
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
