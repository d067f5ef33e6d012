internal import CloudKit
internal import CloudWire
internal import System
internal import Yap

/// What goes into the queue, and what is taken out.
extension YapDatabaseCloudKitTransaction {
    /// The change-set that a commit's changes for one database go to.
    struct OpenChangeSet {
        var sequence: Int64
        /// The first number that a change of this commit can have: smaller ones in the change-set are of earlier
        /// commits, which this one is folded into.
        var firstChange: Int64 = 0
    }

    /// The change-set of this commit for a database.
    func changeSet(_ database: DatabaseKey) throws -> OpenChangeSet {
        if let open = openChangeSets[database] { return open }
        if cloudKit.options.foldsQueuedChanges, let sequence = try tables.queue.changeSetToFold(database) {
            try tables.queue.beginSeries(of: sequence)
            let open = OpenChangeSet(sequence: sequence, firstChange: try tables.queue.lastChange() + 1)
            openChangeSets[database] = open
            return open
        }
        return try newChangeSet(database)
    }

    private func newChangeSet(_ database: DatabaseKey) throws -> OpenChangeSet {
        if let full = openChangeSets[database] { try tables.queue.removeChangeSetIfEmpty(full.sequence) }
        let open = OpenChangeSet(
            sequence: try tables.queue.insertChangeSet(uuid: cloudKit.random.nextUUID(), database))
        openChangeSets[database] = open
        return open
    }

    /// The change-set that a change of a record goes to. One operation can't delete a record and make it again, so
    /// another life of the record in the change-set of earlier commits ends the folding into it.
    private func changeSet(for row: RecordRow) throws -> OpenChangeSet {
        let open = try changeSet(row.database)
        guard open.firstChange > 0, try tables.queue.hasChange(ofAnotherLifeOf: row, in: open.sequence) else {
            return open
        }
        return try newChangeSet(row.database)
    }

    /// Takes a change out of the queue, and its change-set when that was the last of it.
    func remove(_ change: ChangeRow) throws {
        isQueueTouched = true
        try noteChange(of: change)
        try tables.queue.removeChange(change)
        valuesInTransaction.remove(change.id)
        if !openChangeSets.values.contains(where: { $0.sequence == change.sequence }) {
            try tables.queue.removeChangeSetIfEmpty(change.sequence)
        }
    }

    /// Puts changed values into this commit's change-set. Of two values of a key the later wins, of two
    /// originals the earlier.
    ///
    /// - Parameter rowID: The row that holds the values, if one does: then they needn't be stored.
    func queueSave(
        _ row: RecordRow, _ fields: [String: Field], originals: [String: Field], heldBy rowID: Int64? = nil,
        isNew: Bool = false
    ) throws {
        guard !fields.isEmpty else { return }
        isQueueTouched = true
        let open = try changeSet(for: row)
        links.note(row.id, in: open.sequence, fields, originals: originals)
        logTakenOver(row, by: fields)
        var new = NewValues(fields, originals, heldBy: cloudKit.options.storage == .keysOnly ? rowID : nil)
        let special = isNew ? [] : try specialChanges(besideNewOf: row)
        try fold(special, of: row, into: &new, fields, heldBy: rowID)
        if let rowID {
            let older = special.filter { $0.refusal == nil && $0.sequence != open.sequence }
            try storeReplacedValues(of: row, rowID, fields, older)
        }
        let isFileMissing: Bool
        (new.stored, isFileMissing) = try stage(new.stored)
        try queue(new, open, row)
        // The server can't take a file that isn't there. What waits for the record waits for another one.
        if isFileMissing { try refuse(row, .assetFileNotFound) }
    }

    private func refuse(_ row: RecordRow, _ code: CKError.Code) throws {
        try tables.queue.refuseChanges(of: row.id, code: Int64(code.rawValue))
    }

    private func queue(_ values: NewValues, _ open: OpenChangeSet, _ row: RecordRow) throws {
        var new = values
        guard let change = try openChange(open, row) else {
            return try insert(new, open.sequence, row)
        }
        if change.kind == .save {
            new.addOlder(change, try knownValues(of: change), mayBeOnServer: row.changeTag != nil)
        }
        if change.id < open.firstChange {
            // What an earlier commit queued gets a new number, for others may know its values under the old one.
            try tables.queue.removeChange(change)
            return try insert(new, open.sequence, row, ordinal: change.place)
        }
        var updated = change
        updated.kind = .save
        updated.fields = new.stored
        updated.restore = new.restore
        updated.originals = new.originals
        try tables.queue.updateChange(updated)
        valuesInTransaction.remove(change.id)
        remember(new.held, of: change.id)
    }

    /// - Parameter ordinal: The place in the change-set; nil is the last.
    private func insert(
        _ new: NewValues, _ sequence: Int64, _ row: RecordRow, ordinal: Int64? = nil
    ) throws {
        queuedRecords.insert(row.id)
        let id = try tables.queue.insertChange(
            sequence, row.id, .save, fields: new.stored, originals: new.originals, restore: new.restore,
            ordinal: try ordinal ?? nextOrdinal())
        lastChange = id
        remember(new.held, of: id)
    }

    /// What is in memory of the values that only rows hold.
    func knownValues(of change: ChangeRow) throws -> [String: Field] {
        guard !change.restore.isEmpty else { return [:] }
        let known = valuesInTransaction[change.id] ?? cloudKit.restored.withLock { $0[change.id] } ?? [:]
        return known.filter { change.restore[$0.key] != nil }
    }

    /// Puts a deletion into this commit's change-set. A record that the server can't know is simply forgotten: one
    /// that this very commit made, or one whose changes were never sent.
    ///
    /// - Parameter fields: What the record held, as far as it is known.
    func queueDelete(_ row: RecordRow, fields: [String: Field]) throws {
        isQueueTouched = true
        // What the server has of fields whose unsent changes go with the record.
        var originals: [String: Field] = [:]
        for refused in try tables.queue.specialChanges(of: row.id) where refused.refusal != nil {
            let isKept = try mayBeOnServerInPart(refused)
            let known = try isKept ? [:] : knownValues(of: refused)
            let dropped = try isKept ? keepKnown(of: refused, asks: false).rest : refused
            logSuperseded(dropped.with(known), row, by: [:])
            if refused.kind == .save {
                formerRows[row.id, default: []].append(.unsent(dropped, known: known))
            }
            if !isKept {
                originals.merge(refused.originals) { earlier, _ in earlier }
                try remove(refused)
            }
        }
        logAllTakenOver(row)
        let open = try changeSet(for: row)
        if let change = try openChange(open, row) {
            if change.kind == .save {
                formerRows[row.id, default: []].append(.unsent(change, known: try knownValues(of: change)))
                originals.merge(change.originals) { earlier, _ in earlier }
            }
            try remove(change)
            let isKnownToServer = try row.changeTag != nil || tables.queue.hasChanges(row.id)
            if !isKnownToServer { return try tables.records.removeRecordIfUnused(row.id) }
        }
        links.noteFormer(row.id, in: open.sequence, fields)
        links.noteFormer(row.id, in: open.sequence, try row.parentField())
        queuedRecords.insert(row.id)
        lastChange = try tables.queue.insertChange(
            open.sequence, row.id, .delete, fields: fields, originals: originals, ordinal: try nextOrdinal())
    }

    /// What this commit's change-set says of a record so far.
    func openChange(_ open: OpenChangeSet, _ row: RecordRow) throws -> ChangeRow? {
        // In a change-set of this commit's own there is only what this transaction put there.
        if open.firstChange == 0, !queuedRecords.contains(row.id) { return nil }
        return try tables.queue.change(open.sequence, row.id)
    }

    /// The place after all others: the number that the next change has.
    private func nextOrdinal() throws -> Int64 {
        let last = try lastChange ?? tables.queue.lastChange()
        lastChange = last
        return last + 1
    }

    /// Takes everything that waits for a record out of the queue.
    func purge(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws {
        takenOver[row.id] = nil
        let waiting = try tables.queue.changes(of: row.id)
        try logPurged(waiting, row, rule)
        for change in waiting { try remove(change) }
    }

    // MARK: Log

    /// Notes the values of all changes of a record, of which none is sent. One of which a later change of this device
    /// took the place is superseded, and the others are lost.
    private func logPurged(
        _ waiting: [ChangeRow], _ row: RecordRow, _ rule: CloudMergeLogEntry.Rule
    ) throws {
        let values = try waiting.map { change in
            change.fields.merging(try knownValues(of: change)) { stored, _ in stored }
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
                logDrop(row, key, rule, kind: kind, dropped: values[index][key], kept: nil)
            }
        }
    }

    /// - Parameter kind: What became of the value; nil for what the rule makes of most.
    func logDrop(
        _ row: RecordRow, _ key: String?, _ rule: CloudMergeLogEntry.Rule,
        kind: CloudMergeLogEntry.Kind? = nil, dropped: Field?, kept: Field?
    ) {
        log.append(
            CloudMergeLogEntry(
                recordID: row.recordID, field: key, rule: rule, kind: kind ?? rule.usualKind,
                replaced: dropped?.value.map { MergeLogValue($0) },
                kept: kept?.value.map { MergeLogValue($0) }))
    }

    /// Notes the values of a change that newer values of this device replace before it was sent.
    /// - Parameters:
    ///   - fields: The newer values; none means that nothing of the change is sent.
    ///   - unknown: The keys with a newer value that only a row holds.
    func logSuperseded(
        _ change: ChangeRow, _ row: RecordRow, by fields: [String: Field], unknown: Set<String> = []
    ) {
        guard change.kind == .save else { return }
        func isReplaced(_ key: String) -> Bool {
            fields.isEmpty || fields[key] != nil || unknown.contains(key)
        }
        for (key, field) in change.fields.sorted(by: { $0.key < $1.key }) where isReplaced(key) {
            if let newer = fields[key], newer.says(field) { continue }
            logDrop(row, key, .superseded, dropped: field, kept: fields[key])
        }
        // What only a row had, and that nobody can give back.
        for key in change.restore.keys.sorted() where change.fields[key] == nil && isReplaced(key) {
            logDrop(row, key, .superseded, dropped: nil, kept: fields[key])
        }
    }
}

/// The values of a save as it goes into the queue: those that are stored, and those that a row holds.
struct NewValues {
    var stored: [String: Field]
    var restore: [String: Int64] = [:]
    /// The values that rows hold, to be remembered.
    var held: [String: Field] = [:]
    var originals: [String: Field]

    init(_ fields: [String: Field], _ originals: [String: Field], heldBy rowID: Int64?) {
        self.originals = originals
        guard let rowID else {
            stored = fields
            return
        }
        stored = fields.filter { YapDatabaseCloudKitTransaction.mustStore($0.key, $0.value) }
        held = stored.isEmpty ? fields : fields.filter { stored[$0.key] == nil }
        restore = held.mapValues { _ in rowID }
    }

    /// Adds what an earlier change says of other keys.
    ///
    /// - Parameter mayBeOnServer: Whether the server may have what the earlier change says: it has the record, or was
    ///   sent the change.
    mutating func addOlder(_ change: ChangeRow, _ known: [String: Field], mayBeOnServer: Bool) {
        // What an earlier change set without saying what was there before was changed from something unknown; at best
        // from what the earlier change set, as where another version of the app has set it already.
        for key in change.keys {
            let value = mayBeOnServer ? change.fields[key] ?? known[key] : nil
            originals[key] = change.originals[key] ?? value
        }
        originals.merge(change.originals) { _, old in old }
        for (key, field) in change.fields where stored[key] == nil && restore[key] == nil {
            stored[key] = field
        }
        for (key, rowID) in change.restore where stored[key] == nil && restore[key] == nil {
            restore[key] = rowID
            held[key] = known[key]
        }
    }
}

extension ChangeRow {
    /// The change with values that are known without being stored.
    func with(_ known: [String: Field]) -> ChangeRow {
        var change = self
        change.fields.merge(known) { stored, _ in stored }
        return change
    }
}
