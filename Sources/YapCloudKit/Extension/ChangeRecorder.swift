internal import CloudKit
internal import CloudWire
internal import Yap

/// Puts changes of records into the queue, and removes those that became unnecessary.
final class ChangeRecorder {
    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    let log: MergeLog
    let queue: ChangeQueue
    let handled: HandledRows
    let rowValues: RowValues
    let staged: StagedFiles
    /// Rows that this transaction removed, by the incarnations of their records. A record that is created again must
    /// clear the fields that it no longer has.
    var formerRows: [Int64: [FormerRow]] = [:]
    /// Values of earlier commits that a change of this one took over, by the incarnations of their records.
    var takenOver: [Int64: [String: Field?]] = [:]

    init(
        _ log: MergeLog, _ queue: ChangeQueue, _ handled: HandledRows, _ rowValues: RowValues,
        _ staged: StagedFiles
    ) {
        cloudKit = handled.cloudKit
        tables = handled.tables
        self.log = log
        self.queue = queue
        self.handled = handled
        self.rowValues = rowValues
        self.staged = staged
    }

    /// Puts changed values into this commit's change-set. The last value of a key and its first original are kept.
    ///
    /// - Parameter rowID: Row that holds the values, which then needn't be stored; nil if none does.
    func queueSave(
        _ row: RecordRow, _ fields: [String: Field], originals: [String: Field], heldBy rowID: Int64? = nil,
        isNew: Bool = false
    ) throws {
        guard !fields.isEmpty else { return }
        queue.touch()
        let open = try queue.changeSet(for: row)
        queue.links.note(row.id, in: open.sequence, fields, originals: originals)
        logTakenOver(row, by: fields)
        var new = NewValues(fields, originals, heldBy: cloudKit.options.storage == .keysOnly ? rowID : nil)
        let earlier = isNew ? [] : try earlierChanges(besideNewOf: row)
        try fold(earlier, of: row, into: &new, fields, heldBy: rowID)
        if let rowID {
            let older = earlier.filter { $0.quarantineCode == nil && $0.sequence != open.sequence }
            try rowValues.storeReplacedValues(of: row, rowID, fields, older)
        }
        let isFileMissing: Bool
        (new.stored, isFileMissing) = try staged.stage(new.stored)
        try queue.save(new, in: open, row)
        // A file that doesn't exist can't be sent. The record's changes stay quarantined until the field has another
        // file.
        if isFileMissing { try quarantine(row, .assetFileNotFound) }
    }

    private func quarantine(_ row: RecordRow, _ code: CKError.Code) throws {
        try tables.queue.quarantineChanges(of: row.id, code: Int64(code.rawValue))
    }

    /// Puts a deletion into this commit's change-set. A record that the server can't have is only removed, because it
    /// is new in this commit or its changes were never sent.
    ///
    /// - Parameter fields: Known fields of the record.
    func queueDelete(_ row: RecordRow, fields: [String: Field]) throws {
        queue.touch()
        // The server's values of fields with unsent changes, which are removed with the record.
        var originals: [String: Field] = [:]
        for quarantined in try tables.queue.changesInRowsOrQuarantine(of: row.id)
        where quarantined.quarantineCode != nil {
            let isKept = try mayBeOnServerInPart(quarantined)
            let known = try isKept ? [:] : queue.knownValues(of: quarantined)
            let dropped = try isKept ? keepKnown(of: quarantined, asks: false).rest : quarantined
            log.noteSuperseded(dropped.with(known), row, by: [:])
            if quarantined.kind == .save {
                formerRows[row.id, default: []].append(.unsent(dropped, known: known))
            }
            if !isKept {
                originals.merge(quarantined.originals) { earlier, _ in earlier }
                try queue.remove(quarantined)
            }
        }
        logAllTakenOver(row)
        let open = try queue.changeSet(for: row)
        if let change = try queue.openChange(open, row) {
            if change.kind == .save {
                formerRows[row.id, default: []].append(
                    .unsent(change, known: try queue.knownValues(of: change)))
                originals.merge(change.originals) { earlier, _ in earlier }
            }
            try queue.remove(change)
            let isKnownToServer = try row.changeTag != nil || tables.queue.hasChanges(row.id)
            if !isKnownToServer { return try tables.records.removeRecordIfUnused(row.id) }
        }
        queue.links.noteFormer(row.id, in: open.sequence, fields)
        queue.links.noteFormer(row.id, in: open.sequence, try row.parentField())
        try queue.insertDeletion(open, row, fields: fields, originals: originals)
    }

    /// Removes all pending changes of a record from the queue.
    func purge(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws {
        takenOver[row.id] = nil
        let waiting = try tables.queue.changes(of: row.id)
        try logPurged(waiting, row, rule)
        for change in waiting { try queue.remove(change) }
    }

    /// Logs the values of all changes of a record, none of which is sent. A value that a later change of this device
    /// replaces is superseded; the others are lost.
    private func logPurged(
        _ waiting: [ChangeRow], _ row: RecordRow, _ rule: CloudMergeLogEntry.Rule
    ) throws {
        let values = try waiting.map { change in
            change.fields.merging(try queue.knownValues(of: change)) { stored, _ in stored }
        }
        let deletion = waiting.lastIndex { $0.kind == .delete } ?? -1
        var newest: [String: Int] = [:]
        for (index, change) in waiting.enumerated() where change.kind == .save {
            for key in change.keys { newest[key] = index }
        }
        func isReplaced(_ key: String, at index: Int) -> Bool {
            guard index > deletion, let last = newest[key], last != index else { return index < deletion }
            guard let value = values[index][key], let later = values[last][key] else { return true }
            return !later.says(value)
        }
        for (index, change) in waiting.enumerated() where change.kind == .save {
            for key in change.keys {
                let kind: CloudMergeLogEntry.Kind = isReplaced(key, at: index) ? .superseded : .lost
                log.note(row, key, rule, kind: kind, dropped: values[index][key], kept: nil)
            }
        }
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (formerRows, takenOver)
        return { [self] in (formerRows, takenOver) = saved }
    }
}
