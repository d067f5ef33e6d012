internal import CloudKit
internal import CloudWire
internal import SQLite
internal import Yap

/// Values that the queue doesn't store, because the object has them.
///
/// A change with a key to restore belongs to the record that the row stands for now, and the row holds the value that
/// was queued: before either ends, the value is stored in the queue.
final class RowValues {
    private let tables: CloudKitTables
    private let log: MergeLog
    private let queue: ChangeQueue
    private let handled: HandledRows
    /// Rows that could not give back a value when the queue was to store it.
    private var unrestoredRows: Set<Int64> = []

    init(_ log: MergeLog, _ queue: ChangeQueue, _ handled: HandledRows) {
        tables = handled.tables
        self.log = log
        self.queue = queue
        self.handled = handled
    }

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

    /// Returns a change with all its values. Those that only the object has come from memory, or from the record
    /// handler. Values that can't be restored stay in `restore`.
    func restored(_ change: ChangeRow, of row: RecordRow) throws -> ChangeRow {
        guard !change.restore.isEmpty else { return change }
        var known = queue.known(change.id)
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

    /// The changes of one incarnation of a record with all their values, the oldest first.
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
            // An object that can't be read gives nothing back, and mustn't keep the rest of the queue waiting.
            return [:]
        }
        guard let record, record.recordID == row.recordID else { return [:] }
        return try record.changedFields().filter { keys.contains($0.key) }
    }

    /// Keeps a row's values that the queue has not stored: after a change of the row they can't be read any more.
    func rememberValues(of row: YapDatabaseRowIdentity, isAboutToChange: Bool) throws {
        guard let (owner, waiting) = try changesToRestore(ofRow: row.rowID) else { return }
        for change in waiting {
            let full = try restored(change, of: owner)
            // The transaction's own memory is the one that still has them when the row has changed.
            queue.remember(full.fields.filter { change.restore[$0.key] != nil }, of: change.id)
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

    /// Removes values that are lost: this version of the handler knows the key, and the row lacks the value since
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

    /// The values of older changes that a row held, and holds no more because newer ones took their place: they are
    /// sent before them. One that nobody remembers is left out.
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
