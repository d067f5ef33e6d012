internal import CloudKit
internal import CloudWire
internal import SQLite
internal import System
internal import Yap

/// Values that the queue doesn't hold, because the object does.
///
/// A change with a key to restore belongs to the record that the row stands for now, and the row holds the value that
/// was queued: before either ends, the value is stored in the queue.
extension YapDatabaseCloudKitTransaction {
    /// Whether the queue must hold a value itself: an asset's file may go away, and a parent is no value of the object.
    static func mustStore(_ key: String, _ field: Field) -> Bool {
        if key == CKRecord.parentKey { return true }
        switch field.value {
        case .asset: return true
        case .list(_, let values):
            return values.contains { if case .asset = $0 { true } else { false } }
        default: return false
        }
    }

    /// A change with all its values: those that only the object has are remembered, or asked of the record handler.
    /// What it can't give back stays in `restore`.
    func restored(_ change: ChangeRow, of row: RecordRow) throws -> ChangeRow {
        guard !change.restore.isEmpty else { return change }
        var known = valuesInTransaction[change.id] ?? cloudKit.restored.withLock { $0[change.id] } ?? [:]
        let missing = change.restore.filter { known[$0.key] == nil }
        if !missing.isEmpty {
            let keysByRow = Dictionary(grouping: missing.keys.sorted()) { abs(missing[$0] ?? 0) }
            for (rowID, keys) in keysByRow.sorted(by: { $0.key < $1.key }) {
                // A row that was changed by a handler which doesn't know the key may only lack the value.
                let given = try ask(rowID, Set(keys), row).filter { key, field in
                    field.value != nil || missing[key, default: 0] > 0
                }
                known.merge(given) { old, _ in old }
            }
            remember(known, of: change.id)
        }
        var full = change
        for key in change.restore.keys {
            guard let field = known[key] else { continue }
            full.fields[key] = field
            full.restore[key] = nil
        }
        return full
    }

    /// The changes of one life of a record with all their values, the oldest first.
    func restoredChanges(of row: RecordRow) throws -> [ChangeRow] {
        try tables.queue.changes(of: row.id).map { try restored($0, of: row) }
    }

    /// Keeps values for later. In a transaction that writes, they come to the others with its commit.
    func remember(_ fields: [String: Field], of change: Int64) {
        if isWriting {
            valuesInTransaction.add(fields, of: change)
        } else {
            cloudKit.restored.withLock { $0.add(fields, of: change) }
        }
    }

    /// Asks the record handler for values that a row holds. What it doesn't give is missing in the answer.
    private func ask(_ rowID: Int64, _ keys: Set<String>, _ row: RecordRow) throws -> [String: Field] {
        guard let identity = try transaction.identity(ofRowID: rowID),
            try tables.records.isOwner(rowID, identity.nameHash, of: row.id)
        else { return [:] }
        var record: CKRecord? = try row.base()
        let info = YDBCKRecordInfo(databaseIdentifier: row.database.identifier)
        info.keysToRestore = keys
        do {
            try call(&record, info, identity, object: nil, metadata: nil)
        } catch let error as SQLiteError {
            throw error
        } catch let error as YapDatabaseError where !error.isAboutTheObject {
            throw error
        } catch {
            // An object that can't be read gives nothing back, and mustn't keep the rest of the queue waiting.
            return [:]
        }
        guard let record, record.recordID == row.recordID else { return [:] }
        return try record.changedFields().filter { keys.contains($0.key) }
    }

    // MARK: Before a row changes

    /// Notes what the queue has not stored of a row: after a change of the row it can't be asked any more.
    func rememberValues(of row: YapDatabaseRowIdentity, isAboutToChange: Bool) throws {
        guard let (owner, waiting) = try changesToRestore(ofRow: row.rowID) else { return }
        for change in waiting {
            let full = try restored(change, of: owner)
            // The transaction's own memory is the one that still has them when the row has changed.
            remember(full.fields.filter { change.restore[$0.key] != nil }, of: change.id)
            if isAboutToChange { try doubtValues(of: change, full, row.rowID) }
        }
    }

    /// The same for a row that a merge is about to write: what it gives back is stored already.
    func doubtValues(of row: YapDatabaseRowIdentity) throws {
        guard unrestoredRows.contains(row.rowID),
            let (owner, waiting) = try changesToRestore(ofRow: row.rowID)
        else { return }
        for change in waiting { try doubtValues(of: change, restored(change, of: owner), row.rowID) }
    }

    /// Notes the keys of which a row that is about to change gives nothing back: what it lacks afterwards, it need not
    /// have had when the change was queued. Their row's number is negative from then on.
    private func doubtValues(of change: ChangeRow, _ full: ChangeRow, _ rowID: Int64) throws {
        let missing = full.restore.filter { $0.value == rowID }
        guard !missing.isEmpty else { return }
        var doubtful = change
        for key in missing.keys { doubtful.restore[key] = -rowID }
        try tables.queue.updateChange(doubtful)
    }

    /// The changes that have values in a row, and their record; nil when there are none.
    private func changesToRestore(ofRow rowID: Int64) throws -> (owner: RecordRow, changes: [ChangeRow])? {
        let changes = try tables.queue.changesToRestore(ownedBy: rowID)
        guard let first = changes.first, let owner = try tables.records.record(id: first.record) else {
            return nil
        }
        return (owner, changes)
    }

    /// Gives up the values that are lost: this version of the handler knows the key, and the row lacks the value since
    /// an earlier version, which didn't, has changed it.
    func dropLostValues() throws {
        try forEachChangeToRestore { change in
            let doubtful = change.restore.filter { $0.value < 0 }
            guard !doubtful.isEmpty, let row = try tables.records.record(id: change.record) else { return }
            var left = change
            for (rowID, keys) in Dictionary(grouping: doubtful.keys.sorted(), by: { -(doubtful[$0] ?? 0) }) {
                for (key, field) in try ask(rowID, Set(keys), row) where field.value == nil {
                    left.restore[key] = nil
                    left.originals[key] = nil
                    logDrop(row, key, .superseded, dropped: nil, kept: nil)
                }
            }
            if left.fields.isEmpty, left.restore.isEmpty {
                try remove(left)
            } else {
                try tables.queue.updateChange(left)
            }
        }
    }

    /// Stores everything that a row holds for the queue.
    func storeValues(ofRow rowID: Int64) throws {
        guard let (owner, waiting) = try changesToRestore(ofRow: rowID) else { return }
        for change in waiting { try storeValues(of: change, owner) { $0 == rowID } }
    }

    /// Stores everything that rows hold for the queue.
    func storeAllValues() throws {
        try forEachChangeToRestore { change in
            guard let row = try tables.records.record(id: change.record) else { return }
            try storeValues(of: change, row) { _ in true }
        }
    }

    /// Goes through the changes that have values in rows, in steps.
    private func forEachChangeToRestore(_ body: (ChangeRow) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let waiting = try tables.queue.changesToRestore(after: last, limit: Self.readAtOnceMax)
            guard let next = waiting.last?.id else { return }
            last = next
            for change in waiting { try body(change) }
        }
    }

    private static let readAtOnceMax = 500

    /// Stores what some rows hold for a change. What can't be given back puts aside what waits for the record.
    func storeValues(
        of change: ChangeRow, _ row: RecordRow, where isGoing: (_ rowID: Int64) -> Bool
    ) throws {
        let keys = change.restore.filter { isGoing(abs($0.value)) }.map(\.key)
        guard !keys.isEmpty else { return }
        let full = try restored(change, of: row)
        var stored = change
        for key in keys where full.restore[key] == nil {
            stored.fields[key] = full.fields[key]
            stored.restore[key] = nil
        }
        try tables.queue.updateChange(stored)
        let unrestored = keys.compactMap { full.restore[$0] }
        if !unrestored.isEmpty {
            isQueueTouched = true
            unrestoredRows.formUnion(unrestored.map(abs))
            try tables.queue.refuseChanges(of: row.id, code: QueueTables.unrestorableRefusal)
        } else if change.refusal == QueueTables.unrestorableRefusal {
            try liftIfRestored(row)
        }
    }

    /// Lets a record's changes be sent that were put aside for values which are all there now.
    private func liftIfRestored(_ row: RecordRow) throws {
        let isComplete = try restoredChanges(of: row).allSatisfy(\.restore.isEmpty)
        guard isComplete else { return }
        isQueueTouched = true
        try tables.queue.liftRefusals(code: QueueTables.unrestorableRefusal, of: row.id)
    }

    /// The values of older changes that a row held, and holds no more because newer ones took their place: they are
    /// sent before them. One that nobody remembers is left out.
    func storeReplacedValues(
        of row: RecordRow, _ rowID: Int64, _ fields: [String: Field], _ older: [ChangeRow]
    ) throws {
        for change in older {
            let keys = change.restore.filter { abs($0.value) == rowID && fields[$0.key] != nil }.map(\.key)
            guard !keys.isEmpty else { continue }
            let known = valuesInTransaction[change.id] ?? cloudKit.restored.withLock { $0[change.id] } ?? [:]
            var stored = change
            for key in keys.sorted() {
                stored.restore[key] = nil
                stored.fields[key] = known[key]
                if known[key] == nil { logDrop(row, key, .superseded, dropped: nil, kept: fields[key]) }
            }
            if stored.fields.isEmpty, stored.restore.isEmpty {
                try remove(stored)
            } else {
                try tables.queue.updateChange(stored)
            }
        }
    }
}

extension YapDatabaseError {
    /// Whether one object can't be read, and everything else can.
    var isAboutTheObject: Bool {
        switch code {
        case .decoding, .typeMismatch, .missingRegistration: true
        default: false
        }
    }
}
