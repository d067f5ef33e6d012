internal import CloudKit
internal import CloudWire
internal import Yap

/// Merges a remote version with the queue.
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

    /// - Parameter isKnown: Whether the row had this version before. Then no other device has changed anything since.
    func merge(
        _ remote: CKRecord, into row: RecordRow, isKnown: Bool = false,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try zones.noteFetchedRows()
        // The block may write the rows that hold queued values.
        for change in try tables.queue.changesInRowsOrQuarantine(of: row.id) {
            try rowValues.storeValues(of: change, row) { _ in true }
        }
        let pending = try tables.queue.changes(of: row.id).filter { $0.kind == .save }
        var values: [String: Field] = [:]
        for change in pending { values.merge(change.fields) { _, new in new } }
        let remoteFields = try remote.allFields()
        var originals = try self.originals(of: pending, remote: remoteFields)
        if remote.recordChangeTag == row.changeTag {
            // The server has no newer version, so its values are the missing originals of the changes.
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
        // Read again: the block may have changed the record's row.
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

    /// Reduces the queue to the values that the block wants uploaded. A change keeps a key only with the value that the
    /// block set. Values that no change has become a new change. The remote values are the new originals.
    ///
    /// - Parameter combined: Keys with a value that was combined from the changes of both sides.
    func rewriteQueue(
        of row: RecordRow, _ pending: [ChangeRow], updated: [String: Field], remote: [String: Field],
        combined: Set<String> = []
    ) throws {
        queue.touch()
        recorder.forgetTakenOver(of: row)
        // The originals of kept values: the server's values, or earlier kept values.
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
                // A value that can't be restored was not merged, so it keeps its original.
                change.originals = change.originals.filter { change.restore[$0.key] != nil }
                for key in kept.keys { change.originals[key] = original(key) }
                before.merge(kept) { _, later in later }
                try tables.queue.updateChange(change)
            }
        }
        // A record with a pending deletion doesn't need the values, and a save mustn't create it again.
        let isDeleted = try tables.queue.changes(of: row.id).contains { $0.kind == .delete }
        if !missing.isEmpty, !isDeleted {
            try recorder.queueSave(
                row, missing, originals: missing.reduce(into: [:]) { $0[$1.key] = original($1.key) })
        }
        try tables.records.removeRecordIfUnused(row.id)
    }

    /// Whether a value was sent and a later value of this device replaces it. It is kept before the later value. If the
    /// server has it already, it must not be taken for a change of another device.
    private func mayBeOnServer(
        _ key: String, _ change: ChangeRow, _ pending: [ChangeRow], _ updated: [String: Field]
    ) throws -> Bool {
        guard let newest = pending.last(where: { $0.fields[key] != nil }), newest.id != change.id,
            let wanted = updated[key], let value = newest.fields[key], wanted.says(value)
        else { return false }
        return try tables.queue.wasInFlight(change.sequence)
    }

    /// Returns the known originals of the pending values: the first original of each key. If the server has a queued
    /// value that was sent, the response was lost, and the value isn't a change of another device. Then it is the
    /// original of this device's later values.
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

    /// Returns the rule by which a pending value is not sent.
    private func rule(
        for key: String, _ field: Field, _ updated: [String: Field], newest: Field?
    ) -> CloudMergeLogEntry.Rule {
        if let newest, !newest.says(field) { return .superseded }
        return updated[key] == nil ? .remoteWon : .merged
    }

    /// Returns what happened to a pending value that is not sent.
    private func kind(
        of rule: CloudMergeLogEntry.Rule, _ kept: Field?, _ remote: Field?, isCombined: Bool
    ) -> CloudMergeLogEntry.Kind {
        if rule == .superseded { return .superseded }
        // If a rule of the app returns the server's value, this device's value is lost. Any other value is combined.
        return isCombined || !(kept ?? .cleared).says(remote) ? .combined : .lost
    }
}

extension CKRecord {
    /// Returns a copy with the system fields only.
    func withoutValues() throws -> CKRecord {
        try CKRecord.restored(
            type: recordType, recordID: recordID, changeTag: recordChangeTag, system: try systemBytes())
    }

    fileprivate func with(_ fields: [String: Field]) -> CKRecord {
        setFields(fields)
        return self
    }
}
