internal import CloudKit
internal import CloudWire
internal import SQLite
internal import Yap

/// Values that the queue doesn't store, because the object has them.
///
/// A change with a key to restore belongs to the record that the row stands for now, and the row holds the queued
/// value. The value is stored in the queue before the row changes it or no longer stands for the record.
final class RowValues {
    private let tables: CloudKitTables
    private let log: MergeLog
    private let queue: ChangeQueue
    private let handled: HandledRows
    /// Rows that didn't have a value when the queue had to store it.
    private var unrestoredRows: Set<Int64> = []

    init(_ log: MergeLog, _ queue: ChangeQueue, _ handled: HandledRows) {
        tables = handled.tables
        self.log = log
        self.queue = queue
        self.handled = handled
    }

    /// Returns true if the queue must store a value: an asset's file may be deleted, and the object doesn't have
    /// the parent.
    static func mustStore(_ key: String, _ field: Field) -> Bool {
        if key == CKRecord.parentKey { return true }
        switch field.value {
        case .asset: return true
        case .list(_, let values):
            return values.contains { if case .asset = $0 { true } else { false } }
        default: return false
        }
    }

    /// Returns a change with all its values. Values that only the object has are read from the cache, or from the
    /// record handler. The keys of values that can't be restored stay in `restore`.
    func restored(_ change: ChangeRow, of row: RecordRow) throws -> ChangeRow {
        guard !change.restore.isEmpty else { return change }
        var known = queue.known(change.id)
        let missing = change.restore.filter { known[$0.key] == nil }
        if !missing.isEmpty {
            let keysByRow = Dictionary(grouping: missing.keys.sorted()) { abs(missing[$0] ?? 0) }
            for (rowID, keys) in keysByRow.sorted(by: { $0.key < $1.key }) {
                // If a handler that doesn't know the key has changed the row, a missing value doesn't mean a cleared
                // one.
                let given = try ask(rowID, Set(keys), row).filter { key, field in
                    field.value != nil || missing[key, default: 0] > 0
                }
                known.merge(given) { old, _ in old }
            }
            queue.remember(known, of: change.id)
        }
        var full = change
        for key in change.restore.keys {
            guard let field = known[key] else { continue }
            full.fields[key] = field
            full.restore[key] = nil
        }
        return full
    }

    /// Returns the changes of one incarnation of a record with all their values, the oldest first.
    func restoredChanges(of row: RecordRow) throws -> [ChangeRow] {
        try tables.queue.changes(of: row.id).map { try restored($0, of: row) }
    }

    /// Requests values that a row holds from the record handler. Returns those that it sets.
    private func ask(_ rowID: Int64, _ keys: Set<String>, _ row: RecordRow) throws -> [String: Field] {
        guard let identity = try handled.transaction.identity(ofRowID: rowID),
            try tables.records.isOwner(rowID, identity.nameHash, of: row.id)
        else { return [:] }
        var record: CKRecord? = try row.base()
        let info = YDBCKRecordInfo(databaseIdentifier: row.database.identifier)
        info.keysToRestore = keys
        do {
            try handled.call(&record, info, identity, object: nil, metadata: nil)
        } catch let error as SQLiteError {
            throw error
        } catch let error as YapDatabaseError where !error.isAboutTheObject {
            throw error
        } catch {
            // An object that can't be read has no values, and mustn't block the rest of the queue.
            return [:]
        }
        guard let record, record.recordID == row.recordID else { return [:] }
        return try record.changedFields().filter { keys.contains($0.key) }
    }

    /// Caches a row's values that the queue doesn't store. They can't be read after a change of the row.
    func rememberValues(of row: YapDatabaseRowIdentity, isAboutToChange: Bool) throws {
        guard let (owner, waiting) = try changesToRestore(ofRow: row.rowID) else { return }
        for change in waiting {
            let full = try restored(change, of: owner)
            // After the row has changed, only the transaction's cache has them.
            queue.remember(full.fields.filter { change.restore[$0.key] != nil }, of: change.id)
            if isAboutToChange { try doubtValues(of: change, full, row.rowID) }
        }
    }

    /// Notes missing values of a row that a merge is about to write. The values that the row has are stored already.
    func doubtValues(of row: YapDatabaseRowIdentity) throws {
        guard unrestoredRows.contains(row.rowID),
            let (owner, waiting) = try changesToRestore(ofRow: row.rowID)
        else { return }
        for change in waiting { try doubtValues(of: change, restored(change, of: owner), row.rowID) }
    }

    /// Notes the keys that a row lacks before it changes. A value that it lacks afterwards may not have been in the row
    /// when the change was queued. From then on the row's number is stored as a negative one.
    private func doubtValues(of change: ChangeRow, _ full: ChangeRow, _ rowID: Int64) throws {
        let missing = full.restore.filter { $0.value == rowID }
        guard !missing.isEmpty else { return }
        var doubtful = change
        for key in missing.keys { doubtful.restore[key] = -rowID }
        try tables.queue.updateChange(doubtful)
    }

    /// Returns the changes that have values in a row, and their record, or nil if there are none.
    private func changesToRestore(ofRow rowID: Int64) throws -> (owner: RecordRow, changes: [ChangeRow])? {
        let changes = try tables.queue.changesToRestore(ownedBy: rowID)
        guard let first = changes.first, let owner = try tables.records.record(id: first.record) else {
            return nil
        }
        return (owner, changes)
    }

    /// Removes lost values from the queue. A value is lost if this version of the handler knows its key, and the row
    /// lacks it because an earlier version, which didn't know the key, has changed the row.
    func dropLostValues() throws {
        try forEachChangeToRestore { change in
            let doubtful = change.restore.filter { $0.value < 0 }
            guard !doubtful.isEmpty, let row = try tables.records.record(id: change.record) else { return }
            var left = change
            for (rowID, keys) in Dictionary(grouping: doubtful.keys.sorted(), by: { -(doubtful[$0] ?? 0) }) {
                for (key, field) in try ask(rowID, Set(keys), row) where field.value == nil {
                    left.restore[key] = nil
                    left.originals[key] = nil
                    log.note(row, key, .superseded, dropped: nil, kept: nil)
                }
            }
            if left.fields.isEmpty, left.restore.isEmpty {
                try queue.remove(left)
            } else {
                try tables.queue.updateChange(left)
            }
        }
    }

    /// Stores all queued values that a row holds.
    func storeValues(ofRow rowID: Int64) throws {
        guard let (owner, waiting) = try changesToRestore(ofRow: rowID) else { return }
        for change in waiting { try storeValues(of: change, owner) { $0 == rowID } }
    }

    /// Stores all queued values that rows hold.
    func storeAllValues() throws {
        try forEachChangeToRestore { change in
            guard let row = try tables.records.record(id: change.record) else { return }
            try storeValues(of: change, row) { _ in true }
        }
    }

    /// Calls `body` for each change that has values in rows. It reads the changes in pages.
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

    /// Stores the values that some rows hold for a change. If one can't be restored, the record's changes are
    /// quarantined.
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
            queue.touch()
            unrestoredRows.formUnion(unrestored.map(abs))
            try tables.queue.quarantineChanges(of: row.id, code: QueueTables.unrestorableCode)
        } else if change.quarantineCode == QueueTables.unrestorableCode {
            try liftIfRestored(row)
        }
    }

    /// Lifts the quarantine of a record's changes if all their values are present now.
    private func liftIfRestored(_ row: RecordRow) throws {
        let isComplete = try restoredChanges(of: row).allSatisfy(\.restore.isEmpty)
        guard isComplete else { return }
        queue.touch()
        try tables.queue.liftQuarantine(code: QueueTables.unrestorableCode, of: row.id)
    }

    /// Stores values of older changes that a row no longer has, because newer values replaced them. The older changes
    /// are sent before the newer one. Values that aren't cached are left out.
    func storeReplacedValues(
        of row: RecordRow, _ rowID: Int64, _ fields: [String: Field], _ older: [ChangeRow]
    ) throws {
        for change in older {
            let keys = change.restore.filter { abs($0.value) == rowID && fields[$0.key] != nil }.map(\.key)
            guard !keys.isEmpty else { continue }
            let known = queue.known(change.id)
            var stored = change
            for key in keys.sorted() {
                stored.restore[key] = nil
                stored.fields[key] = known[key]
                if known[key] == nil { log.note(row, key, .superseded, dropped: nil, kept: fields[key]) }
            }
            if stored.fields.isEmpty, stored.restore.isEmpty {
                try queue.remove(stored)
            } else {
                try tables.queue.updateChange(stored)
            }
        }
    }

    func makeRestorePoint() -> () -> Void {
        let unrestoredRows = unrestoredRows
        return { [self] in self.unrestoredRows = unrestoredRows }
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
