internal import CloudKit
internal import CloudWire

/// A batch to send.
struct SyncBatch {
    var items: [SyncItem] = []
    var saves: [CKRecord] = []
    var deletions: [CKRecord.ID] = []
    /// Whether an earlier operation sent a part of the change-set, and its result isn't known.
    var mayHaveArrived = false
}

/// Builds batches from the head of a database's queue.
struct BatchBuilder {
    let tables: CloudKitTables
    let queue: ChangeQueue
    let rowValues: RowValues
    let zones: ZoneFetch

    /// Returns the head of a database's queue, with the current tags and values. Changes that can't be sent are left
    /// out.
    func batch(_ database: DatabaseKey, itemsMax: Int, bytesMax: Int = .max) throws -> SyncBatch {
        try batch(database, itemsMax: itemsMax, bytesMax: bytesMax, quarantine: { _, _ in })
    }

    private func batch(
        _ database: DatabaseKey, itemsMax: Int, bytesMax: Int,
        quarantine: (ChangeRow, _ code: Int64) throws -> Void
    ) throws -> SyncBatch {
        var batch = SyncBatch()
        var bytes = 0
        let missing = try tables.missingFiles(database)
        for waiting in try tables.queue.head(database, itemsMax: itemsMax) {
            guard !waiting.isDamaged, let row = try tables.records.record(id: waiting.record),
                let base = try? row.base()
            else {
                try quarantine(waiting, QueueTables.damagedCode)
                continue
            }
            let change = try rowValues.restored(waiting, of: row)
            guard change.restore.isEmpty else {
                try quarantine(waiting, QueueTables.unrestorableCode)
                continue
            }
            guard try !holds(change, of: row, missing) else {
                try quarantine(waiting, MissingFiles.quarantineCode)
                continue
            }
            bytes += change.kind == .save ? FieldsBinary.encode(change.fields).count : 0
            if bytes > bytesMax, !batch.items.isEmpty { break }
            batch.items.append(
                SyncItem(
                    recordID: row.recordID, kind: change.kind, sequence: change.sequence, incarnation: row.id,
                    sentTag: row.changeTag, isOwnerless: row.ownerCount == 0,
                    knownModification: base.modificationDate))
            if change.kind == .delete {
                batch.deletions.append(row.recordID)
            } else {
                setFields(of: change, on: base, of: row, missing)
                batch.saves.append(base)
            }
        }
        return batch
    }

    /// Returns the batch to send next, and marks its change-set as in flight. Empty while a zone has to be fetched
    /// first.
    func take(_ database: DatabaseKey, _ limits: BatchLimits) throws -> SyncBatch {
        guard try zones.zonesToFetchFirst(database).isEmpty else { return SyncBatch() }
        var batch = try limits.takesDeletionsOnly ? deletions(database, limits) : sendable(database, limits)
        guard let sequence = batch.items.first?.sequence else { return batch }
        batch.mayHaveArrived = try tables.queue.wasInFlight(sequence)
        try tables.queue.setInFlight(sequence, true)
        return batch
    }

    /// Makes a batch of the head of the queue. Changes that can't be restored or read are quarantined.
    private func sendable(_ database: DatabaseKey, _ limits: BatchLimits) throws -> SyncBatch {
        while true {
            var hasQuarantined = false
            let batch = try batch(database, itemsMax: limits.itemsMax, bytesMax: limits.bytesMax) {
                hasQuarantined = true
                queue.touch()
                try tables.queue.quarantineChange($0, code: $1)
                try tables.queue.quarantineChanges(of: $0.record, code: $1)
            }
            if !batch.items.isEmpty || !hasQuarantined { return batch }
        }
    }

    /// Returns deletions of records without earlier pending changes.
    private func deletions(_ database: DatabaseKey, _ limits: BatchLimits) throws -> SyncBatch {
        // A deletion may delete a file on the server that another change waits for.
        guard try tables.missingFiles(database).isEmpty else { return SyncBatch() }
        var batch = SyncBatch()
        for (sequence, id) in try tables.queue.freeDeletions(database, itemsMax: limits.itemsMax) {
            guard let row = try tables.records.record(id: id) else { continue }
            batch.items.append(
                SyncItem(
                    recordID: row.recordID, kind: .delete, sequence: sequence, incarnation: id,
                    sentTag: row.changeTag))
            batch.deletions.append(row.recordID)
        }
        return batch
    }

    /// Returns true if a change has to wait for a file, or for a pending change of an earlier incarnation of its
    /// record.
    private func holds(_ change: ChangeRow, of row: RecordRow, _ missing: MissingFiles) throws -> Bool {
        guard !missing.isEmpty else { return false }
        if missing.hold(change) { return true }
        let incarnations = try tables.records.records(row.recordID, row.database)
        return try incarnations.contains { try $0.id < row.id && tables.queue.hasChanges($0.id) }
    }

    /// Sets the values of a change in a record, with the paths of the files. A file that the record has on the server
    /// is only named, and not sent again.
    private func setFields(
        of change: ChangeRow, on record: CKRecord, of row: RecordRow, _ missing: MissingFiles
    ) {
        let fields = change.fields.filter {
            !missing.leavesOut($0.key, of: change) || !tables.files.lacks($0.value)
        }
        record.setFields(fields)
        guard fields.hasAssets else { return }
        for (name, field) in fields {
            let files = field.files
            guard !files.isEmpty else { continue }
            let assets = files.map { file in
                let isKnown =
                    change.originals[name].map { $0.files.contains(file) } ?? !tables.files.contain(file)
                let named =
                    row.changeTag != nil && isKnown
                    ? FileOnServer.asset(file, of: row.recordID, name) : nil
                return named ?? CKAsset(fileURL: tables.files.url(of: file))
            }
            record.replaceAssets(with: assets, forKey: name)
        }
    }
}
