internal import CloudKit
internal import CloudWire
internal import Yap

/// The association of rows with records.
extension RowTracker {
    /// Associates a row with a record.
    ///
    /// - Parameters:
    ///   - fields: The values to upload; nil uploads nothing.
    ///   - isUnknown: True if the caller has found that the tables have no row for the record.
    func own(
        _ row: YapDatabaseRowIdentity, _ record: CKRecord, _ fields: [String: Field]?,
        _ database: DatabaseKey,
        isFromHandler: Bool, isUnknown: Bool = false
    ) throws {
        if fields != nil && record.recordChangeTag == nil {
            try RecordNames.check(record.recordID.recordName)
        }
        let incarnation =
            try isUnknown
            ? JoinedIncarnation(
                row: tables.records.insertOwnedRecord(
                    record, database, generation: 0, counts: zones.partOfNew), isNew: true)
            : incarnationForNewOwner(of: record, database)
        var owned = incarnation.row
        if !incarnation.isNew {
            owned.ownerCount += 1
            if fields == nil, let tag = record.recordChangeTag {
                owned.changeTag = tag
                owned.system = try record.systemBytes()
            }
            try tables.records.updateRecord(owned)
        }
        try tables.records.map(row.rowID, row.nameHash, to: owned.id)
        guard let fields else { return }
        // Values that the record had before it was deleted and created again, and that it lacks now.
        let ended = incarnation.formerKeys.filter { fields[$0.key] == nil }
        if !ended.isEmpty {
            try recorder.queueSave(
                owned, ended.mapValues { Field(value: nil, type: nil, isEncrypted: $0) },
                originals: incarnation.originals)
        }
        try recorder.queueSave(
            owned, fields, originals: incarnation.originals, heldBy: isFromHandler ? row.rowID : nil,
            isNew: incarnation.isNew)
    }

    /// The incarnation of a record that a new row is associated with.
    private struct JoinedIncarnation {
        var row: RecordRow
        /// Whether it was created for the row, which its owner count includes already.
        var isNew = false
        /// Its fields, if it was deleted in this transaction.
        var originals: [String: Field] = [:]
        /// The names of these fields, and whether each was encrypted.
        var formerKeys: [String: Bool] = [:]
    }

    private func incarnationForNewOwner(of record: CKRecord, _ database: DatabaseKey) throws
        -> JoinedIncarnation
    {
        let incarnations = try tables.records.records(record.recordID, database)
        if let live = incarnations.last, live.ownerCount > 0 { return JoinedIncarnation(row: live) }
        guard var last = incarnations.last else {
            return JoinedIncarnation(
                row: try tables.records.insertOwnedRecord(record, database, generation: 0), isNew: true)
        }
        last.wantsDeletion = false
        let deletion = try tables.queue.changes(of: last.id).last { $0.kind == .delete }
        guard let deletion else { return JoinedIncarnation(row: last) }
        if let open = queue.openChangeSets[database], open.sequence == deletion.sequence,
            deletion.id >= open.firstChange
        {
            // It was deleted in this commit, so the server never deletes it: the new row is a change of it.
            try queue.remove(deletion)
            let former = try recorder.formerFields(of: last, deletion.fields)
            return JoinedIncarnation(row: last, originals: former.originals, formerKeys: former.keys)
        }
        let next = try tables.records.insertOwnedRecord(record, database, generation: last.generation + 1)
        return JoinedIncarnation(row: next, isNew: true)
    }

    /// Ends the association of a row with its record.
    ///
    /// - Parameters:
    ///   - isDeleted: Whether this owner requests that the record be deleted on the server. The record is deleted with
    ///     its last owner if any owner requested it.
    ///   - lastFields: Known fields of the record.
    func disown(_ rowID: Int64, _ owner: RecordRow, isDeleted: Bool, lastFields: [String: Field]) throws {
        try rowValues.storeValues(ofRow: rowID)
        try tables.records.unmap(rowID)
        guard var row = try tables.records.record(id: owner.id) else { return }
        row.ownerCount -= 1
        row.wantsDeletion = row.wantsDeletion || isDeleted
        try tables.records.updateRecord(row)
        guard row.ownerCount == 0 else { return }
        if row.wantsDeletion {
            try recorder.queueDelete(row, fields: lastFields)
        } else {
            try tables.records.removeRecordIfUnused(row.id)
        }
    }

    /// Does the work of the transaction's `attachRecord`, in a database of any account.
    @discardableResult
    func attach(
        _ record: CKRecord, _ database: DatabaseKey, forKey key: String, inCollection collection: String,
        isUploaded: Bool
    ) throws -> Bool {
        let transaction = try handled.writer()
        if !isUploaded { try zones.noteFetchedRows() }
        let name = YapCollectionKey(collection: collection, key: key)
        guard let rowID = try transaction.rowID(forKey: key, inCollection: collection),
            let identity = try transaction.identity(ofRowID: rowID)
        else {
            pendingAttaches[name] = PendingAttach(record: record, database: database, isUploaded: isUploaded)
            return true
        }
        guard var row = try tables.records.record(ownedBy: rowID) else {
            let fields = isUploaded ? try record.changedFields() : nil
            try own(identity, record, fields, database, isFromHandler: false)
            return true
        }
        guard row.recordID == record.recordID, row.database == database else { return false }
        if isUploaded {
            try recorder.queueSave(row, try record.changedFields(), originals: [:])
        } else if record.recordChangeTag != nil {
            row.changeTag = record.recordChangeTag
            row.system = try record.systemBytes()
            try tables.records.updateRecord(row)
        }
        return true
    }

    /// Does the work of the transaction's `detachRecord`.
    func detach(
        forKey key: String, inCollection collection: String, wasRemoteDeletion: Bool, isDeleted: Bool
    ) throws {
        let transaction = try handled.writer()
        if wasRemoteDeletion { try zones.noteFetchedRows() }
        let name = YapCollectionKey(collection: collection, key: key)
        if pendingAttaches.removeValue(forKey: name) != nil { return }
        guard let rowID = try transaction.rowID(forKey: key, inCollection: collection),
            let owner = try tables.records.record(ownedBy: rowID)
        else { return }
        guard wasRemoteDeletion else {
            return try disown(rowID, owner, isDeleted: isDeleted, lastFields: [:])
        }
        if owner.ownerCount > 1 {
            try rowValues.storeValues(ofRow: rowID)
        } else {
            // Read the dropped values for the log while a row still holds them.
            _ = try rowValues.restoredChanges(of: owner)
        }
        try tables.records.unmap(rowID)
        var row = owner
        row.ownerCount -= 1
        try tables.records.updateRecord(row)
        if row.ownerCount == 0 {
            try recorder.purge(row, rule: .deletedRemotely)
            try tables.records.removeRecordIfUnused(row.id)
        }
    }

    /// Associates a row that is inserted later in this transaction with a fetched record that the tables don't have.
    func attachNew(
        _ record: CKRecord, _ database: DatabaseKey, forKey key: String, inCollection collection: String
    ) throws {
        pendingAttaches[YapCollectionKey(collection: collection, key: key)] = PendingAttach(
            record: record, database: database, isUploaded: false, isNew: true)
    }

    /// Whether a fetched deletion of a record doesn't concern an incarnation, because the server never had it and rows
    /// stand for it. If a save of it was sent and its result isn't known, the deletion may concern it. Then the save is
    /// sent again, as an edit is, and the log has an entry.
    func outlivesDeletion(_ row: RecordRow) throws -> Bool {
        guard row.ownerCount > 0, row.changeTag == nil else { return false }
        if try mayHaveArrived(row) { log.note(row, nil, .editBeatDeletion, dropped: nil, kept: nil) }
        try tables.queue.restartWrites(of: row)
        return true
    }

    /// Removes an incarnation of a record, on this device only.
    /// - Returns: The rows that were associated with it.
    func forget(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws -> [YapCollectionKey] {
        let keys = try handled.names(of: row)
        // Read the dropped values for the log while a row still holds them.
        _ = try rowValues.restoredChanges(of: row)
        for rowID in try tables.records.owners(of: row.id) { try tables.records.unmap(rowID) }
        try recorder.purge(row, rule: rule)
        var ended = row
        ended.ownerCount = 0
        try tables.records.updateRecord(ended)
        try tables.records.removeRecordIfUnused(row.id)
        return keys
    }

    /// Whether a save of the record was sent and its result isn't known.
    func mayHaveArrived(_ row: RecordRow) throws -> Bool {
        try tables.queue.changes(of: row.id).contains {
            try $0.kind == .save && tables.queue.wasInFlight($0.sequence)
        }
    }

    /// Handles the removal of all rows.
    func removedAll() throws {
        pendingAttaches = [:]
        guard deletesRemovedRecords else { return try tables.records.removeAllMappings() }
        try tables.records.unmapAll()
        var last: Int64 = 0
        while true {
            let owned = try tables.records.ownedRecords(after: last, limit: Self.removedAtOnceMax)
            guard let next = owned.last?.id else { return }
            last = next
            for var row in owned {
                row.ownerCount = 0
                try tables.records.updateRecord(row)
                try recorder.queueDelete(row, fields: [:])
            }
        }
    }

    private static let removedAtOnceMax = 500
}
