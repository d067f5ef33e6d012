internal import CloudKit
internal import CloudWire
internal import Yap

/// Applies the results of batches.
struct UploadResults {
    let tracker: RowTracker
    let merges: RemoteMerge
    private var cloudKit: YapDatabaseCloudKit { tracker.cloudKit }
    private var tables: CloudKitTables { tracker.tables }
    private var log: MergeLog { tracker.log }
    private var queue: ChangeQueue { tracker.queue }
    private var handled: HandledRows { tracker.handled }
    private var rowValues: RowValues { tracker.rowValues }
    private var recorder: ChangeRecorder { tracker.recorder }
    private var zones: ZoneFetch { tracker.zones }

    /// Writes the results of a batch to the tables.
    ///
    /// - Parameter merge: What to do with the server's record of a conflict; nil is `mergeRecord`.
    func complete(
        _ completion: SyncCompletion,
        merge: ((YapDatabaseReadWriteTransaction, CKRecord) throws -> Void)?,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        for (item, record) in completion.saved { try saved(item, record) }
        for item in completion.deleted { try deleted(item) }
        for item in completion.gone {
            guard let row = try judgedRow(item), row.ownerCount == 0 else { continue }
            try recorder.purge(row, rule: .deletedRemotely)
            try tables.records.removeRecordIfUnused(row.id)
        }
        for (item, server) in completion.conflicts {
            guard let row = try judgedRow(item) else { continue }
            if let merge {
                try merge(transaction, server)
            } else {
                try merges.mergeRecord(server, row.database)
            }
            cloudKit.writes.note(.known, of: row.recordID, in: row.database)
        }
        for item in completion.recreated {
            guard let row = try judgedRow(item) else { continue }
            try recreate(row, rule: .editBeatDeletion)
        }
        for (item, error, isStuck) in completion.quarantined {
            // A merge or a deletion may have removed the change from the queue meanwhile.
            guard let change = try tables.queue.change(item.sequence, item.incarnation) else { continue }
            if !isStuck, try joinsNext(change) { continue }
            if change.kind == .delete, !RecordNames.isLegal(item.recordID.recordName) {
                // The server can't have a record with this name, so there is nothing to delete.
                try deleted(item)
                continue
            }
            let code = isStuck ? QueueTables.stuckCode : Int64(error.code.rawValue)
            try tables.queue.quarantineChanges(
                of: item.incarnation, code: code, reason: isStuck ? nil : error.reason)
        }
    }

    /// Returns the incarnation that the response to a save is about. Nil if it was removed, or if a merge has stored a
    /// newer version meanwhile: then the response is outdated, and the save is sent again with the newer tag.
    private func judgedRow(_ item: SyncItem) throws -> RecordRow? {
        try tables.records.record(id: item.incarnation).flatMap { $0.changeTag == item.sentTag ? $0 : nil }
    }

    /// Replaces a change that the server rejects by the next change of its record, which may correct it and is sent
    /// instead of being quarantined too. A save takes over the rejected values; a deletion discards them.
    /// - Returns: Whether there is a next change.
    private func joinsNext(_ quarantined: ChangeRow) throws -> Bool {
        guard quarantined.kind == .save, let row = try tables.records.record(id: quarantined.record) else {
            return false
        }
        let waiting = try tables.queue.changes(of: row.id)
        guard var next = waiting.first(where: { $0.sequence > quarantined.sequence }),
            next.quarantineCode == nil
        else { return false }
        let old = try rowValues.restored(quarantined, of: row)
        if next.kind == .save {
            next = try rowValues.restored(next, of: row)
            guard old.restore.isEmpty, next.restore.isEmpty else { return false }
            log.noteSuperseded(old, row, by: next.fields)
            for key in old.keys { next.originals[key] = old.originals[key] }
            next.fields.merge(old.fields) { new, _ in new }
            try tables.queue.updateChange(next)
        } else {
            log.noteSuperseded(old, row, by: [:])
        }
        try queue.remove(quarantined)
        return true
    }

    private func saved(_ item: SyncItem, _ record: CKRecord) throws {
        // If a merge has stored a later version meanwhile, its tag is kept. The rest of the change was merged with that
        // version and is sent again.
        if let row = try tables.records.record(id: item.incarnation), row.changeTag != item.sentTag,
            row.changeTag != record.recordChangeTag
        {
            return
        }
        let change = try tables.queue.change(item.sequence, item.incarnation)
        if let change { try finishFilesLeftOut(of: change, record) }
        try finish(item, change)
        guard var row = try tables.records.record(id: item.incarnation), row.changeTag == item.sentTag else {
            return
        }
        row.changeTag = record.recordChangeTag
        row.system = try record.systemBytes()
        try tables.records.updateRecord(row)
        // The stashed version, for a version of the app that knows the record's type, is older than this one.
        try tables.stash.removeFromStash(row.recordID, row.database)
        cloudKit.writes.note(.known, of: row.recordID, in: row.database)
    }

    private func deleted(_ item: SyncItem) throws {
        if let row = try tables.records.record(id: item.incarnation) {
            let last = try row.base().modificationDate
            cloudKit.writes.note(.deleted(lastModification: last), of: row.recordID, in: row.database)
        }
        try finish(item, try tables.queue.change(item.sequence, item.incarnation))
    }

    private func finish(_ item: SyncItem, _ change: ChangeRow?) throws {
        if let change, change.kind == item.kind {
            try queue.remove(change)
        }
        try tables.records.removeRecordIfUnused(item.incarnation)
    }

    /// Logs the fields that a change was sent without, mostly because a later change of this device replaces them. The
    /// server still has their previous values, so these become the originals of the later change.
    func finishFilesLeftOut(of change: ChangeRow, _ saved: CKRecord) throws {
        guard change.fields.hasAssets, let row = try tables.records.record(id: change.record) else { return }
        var later = try tables.queue.changes(of: row.id).filter { $0.sequence > change.sequence }
        for (name, field) in change.fields.sorted(by: { $0.key < $1.key })
        where !field.files.isEmpty && saved.object(forKey: name) == nil {
            let isReplaced = later.contains { $0.kind == .delete || $0.keys.contains(name) }
            log.note(
                row, name, .superseded, kind: isReplaced ? .superseded : .lost, dropped: field, kept: nil)
            guard let next = later.firstIndex(where: { $0.keys.contains(name) }) else { continue }
            later[next].originals[name] =
                change.originals[name] ?? (row.changeTag == nil ? .cleared : nil)
            try tables.queue.updateChange(later[next])
        }
    }

    /// Queues all known values of a record as a new record: another device deleted it while an edit was pending here,
    /// or the server lost it. A record without rows is removed.
    func recreate(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws {
        let owners = try handled.identities(of: row)
        guard !owners.isEmpty else {
            try recorder.purge(row, rule: .deletedRemotely)
            return try tables.records.removeRecordIfUnused(row.id)
        }
        var full: [String: Field] = [:]
        for owner in owners {
            let fields = try handled.fullFields(owner, row, object: nil, metadata: nil)?.fields ?? [:]
            full.merge(fields) { old, _ in old }
        }
        var waiting = try tables.queue.changes(of: row.id)
        var queued: [String: Field] = [:]
        for index in waiting.indices where waiting[index].kind == .save {
            waiting[index].fields.merge(try queue.knownValues(of: waiting[index])) { stored, _ in stored }
            queued.merge(waiting[index].fields) { _, later in later }
        }
        // Values that were queued without the handler aren't in a row, and cleared fields aren't either.
        full.merge(queued) { inRow, _ in inRow }
        for change in waiting {
            log.noteSuperseded(change, row, by: full)
            try queue.remove(change)
        }
        // A server that was restored may get the file from another device.
        if rule == .editBeatDeletion { try dropMissingFiles(of: row, owners, &full) }
        var row = row
        row.changeTag = nil
        try tables.records.updateRecord(row)
        try recorder.queueSave(row, full, originals: [:])
        log.note(row, nil, rule, dropped: nil, kept: nil)
    }

    /// Drops files that only the deleted record had. They can't be sent, and the rest can be sent without them.
    private func dropMissingFiles(
        of row: RecordRow, _ owners: [YapDatabaseRowIdentity], _ fields: inout [String: Field]
    ) throws {
        let missing = fields.filter { tables.files.lacks($0.value) }
        guard !missing.isEmpty, let zoneHandler = cloudKit.runner.zoneHandler else { return }
        let rest = missing.mapValues { tables.files.withoutMissing($0) }
        for (name, field) in missing.sorted(by: { $0.key < $1.key }) {
            log.note(row, name, .editBeatDeletion, kind: .lost, dropped: field, kept: rest[name])
            fields[name] = rest[name]?.value == nil ? nil : rest[name]
        }
        let transaction = try handled.writer()
        try handled.merging(owners) {
            try zones.noteFetchedRows()
            for owner in owners {
                try zoneHandler.storeFields(rest, transaction, owner.collection, owner.key)
            }
        }
    }
}
