internal import CloudKit
internal import CloudWire
internal import Yap

/// Begin and end of a row's link to a record.
extension RowTracker {
    /// Makes a row stand for a record.
    ///
    /// - Parameters:
    ///   - fields: The values to upload; nil uploads nothing.
    ///   - isUnknown: Whether it is known already that nothing is known of the record.
    func own(
        _ row: YapDatabaseRowIdentity, _ record: CKRecord, _ fields: [String: Field]?,
        _ database: DatabaseKey,
        isFromHandler: Bool, isUnknown: Bool = false
    ) throws {
        if fields != nil && record.recordChangeTag == nil {
            try RecordNames.check(record.recordID.recordName)
        }
        let life =
            try isUnknown
            ? JoinedLife(
                row: tables.records.insertOwnedRecord(
                    record, database, generation: 0, counts: zones.partOfNew), isNew: true)
            : lifeForNewOwner(of: record, database)
        var owned = life.row
        if !life.isNew {
            owned.ownerCount += 1
            if fields == nil, let tag = record.recordChangeTag {
                owned.changeTag = tag
                owned.system = try record.systemBytes()
            }
            try tables.records.updateRecord(owned)
        }
        try tables.records.map(row.rowID, row.nameHash, to: owned.id)
        guard let fields else { return }
        // What the record had before it was deleted and made again, and hasn't now.
        let ended = life.formerKeys.filter { fields[$0.key] == nil }
        if !ended.isEmpty {
            try recorder.queueSave(
                owned, ended.mapValues { Field(value: nil, type: nil, isEncrypted: $0) },
                originals: life.originals)
        }
        try recorder.queueSave(
            owned, fields, originals: life.originals, heldBy: isFromHandler ? row.rowID : nil,
            isNew: life.isNew)
    }

    /// The life of a record that a row which begins to stand for it joins.
    private struct JoinedLife {
        var row: RecordRow
        /// Whether it begins with the row, which it counts already.
        var isNew = false
        /// If it was deleted in this transaction, what it had.
        var originals: [String: Field] = [:]
        /// The names of what it had then, and whether that was encrypted.
        var formerKeys: [String: Bool] = [:]
    }

    private func lifeForNewOwner(of record: CKRecord, _ database: DatabaseKey) throws -> JoinedLife {
        let lives = try tables.records.records(record.recordID, database)
        if let live = lives.last, live.ownerCount > 0 { return JoinedLife(row: live) }
        guard var last = lives.last else {
            return JoinedLife(
                row: try tables.records.insertOwnedRecord(record, database, generation: 0), isNew: true)
        }
        last.wantsDeletion = false
        let deletion = try tables.queue.changes(of: last.id).last { $0.kind == .delete }
        guard let deletion else { return JoinedLife(row: last) }
        if let open = queue.openChangeSets[database], open.sequence == deletion.sequence,
            deletion.id >= open.firstChange
        {
            // Deleted in this very commit: to the server it was never gone, and this is a change of what it was.
            try queue.remove(deletion)
            let former = try recorder.formerFields(of: last, deletion.fields)
            return JoinedLife(row: last, originals: former.originals, formerKeys: former.keys)
        }
        let next = try tables.records.insertOwnedRecord(record, database, generation: last.generation + 1)
        return JoinedLife(row: next, isNew: true)
    }

    /// A row no longer stands for its record.
    ///
    /// - Parameters:
    ///   - isDeleted: Whether this owner wants the record deleted on the server. It is when the last owner
    ///     goes, unless every one of them asked not to.
    ///   - lastFields: What the record held, as far as it is known.
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

    /// `attachRecord`, in a database of any account.
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

    /// `detachRecord`, in the transaction's façade.
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
            // The log says what is dropped, and afterwards no row can be asked for it.
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

    /// Makes the row that is inserted next stand for a fetched record of which nothing is known here.
    func attachNew(
        _ record: CKRecord, _ database: DatabaseKey, forKey key: String, inCollection collection: String
    ) throws {
        pendingAttaches[YapCollectionKey(collection: collection, key: key)] = PendingAttach(
            record: record, database: database, isUploaded: false, isNew: true)
    }

    /// Whether rows stand for a life of a record that the server never saw, and that can't have ended there. One that
    /// went out and was not answered may have: it goes again, as an edit does, and the log says so.
    func outlivesDeletion(_ row: RecordRow) throws -> Bool {
        guard row.ownerCount > 0, row.changeTag == nil else { return false }
        if try mayHaveArrived(row) { log.note(row, nil, .editBeatDeletion, dropped: nil, kept: nil) }
        try tables.queue.restartWrites(of: row)
        return true
    }

    /// Ends a life of a record on this device only.
    func forget(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws -> [YapCollectionKey] {
        let keys = try handled.names(of: row)
        // The log says what is dropped, and afterwards no row can be asked for it.
        _ = try rowValues.restoredChanges(of: row)
        for rowID in try tables.records.owners(of: row.id) { try tables.records.unmap(rowID) }
        try recorder.purge(row, rule: rule)
        var ended = row
        ended.ownerCount = 0
        try tables.records.updateRecord(ended)
        try tables.records.removeRecordIfUnused(row.id)
        return keys
    }

    /// Whether a save of the record was sent and its answer isn't known.
    func mayHaveArrived(_ row: RecordRow) throws -> Bool {
        try tables.queue.changes(of: row.id).contains {
            try $0.kind == .save && tables.queue.wasInFlight($0.sequence)
        }
    }

    /// All rows were removed.
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
