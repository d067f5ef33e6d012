internal import CloudKit
internal import CloudWire

/// Quarantined changes of a record that the app changes again.
extension ChangeRecorder {
    /// Returns the changes of a record that are folded into a new one or sent before it. A conflict that never settled
    /// is sent again, before the new change, because the server may have it. If the server never had the record, the
    /// conflict is folded like other quarantined changes.
    func earlierChanges(besideNewOf row: RecordRow) throws -> [ChangeRow] {
        let earlier = try tables.queue.changesInRowsOrQuarantine(of: row.id)
        guard row.changeTag != nil, earlier.contains(where: { $0.quarantineCode == QueueTables.stuckCode })
        else { return earlier }
        try tables.queue.liftQuarantine(code: QueueTables.stuckCode, of: row.id)
        return try tables.queue.changesInRowsOrQuarantine(of: row.id)
    }

    /// Folds quarantined changes into the new one, which may correct them. The newest value of each key is used.
    func fold(
        _ earlier: [ChangeRow], of row: RecordRow, into new: inout NewValues, _ fields: [String: Field],
        heldBy rowID: Int64?
    ) throws {
        var newer = fields
        var newerUnknown: Set<String> = []
        var keysBefore: Set<String> = []
        var left: [ChangeRow] = []
        for quarantined in earlier.reversed()
        where quarantined.quarantineCode != nil && !quarantined.isDamaged {
            let isKept = try mayBeOnServerInPart(quarantined)
            var folded = quarantined
            if isKept {
                let kept = try keepKnown(of: quarantined, asks: rowID == nil)
                folded = kept.rest
                keysBefore.formUnion(kept.known.keys)
                if let change = kept.left { left.append(change) }
            }
            let known = try isKept ? [:] : queue.knownValues(of: quarantined)
            let full = folded.with(known)
            log.noteSuperseded(full, row, by: newer, unknown: newerUnknown.union(isKept ? [] : keysBefore))
            let mayBeOnServer =
                try isKept || row.changeTag != nil || tables.queue.wasInFlight(quarantined.sequence)
            if !isKept {
                let before = full.originals.merging(mayBeOnServer ? full.fields : [:]) { original, _ in
                    original
                }
                try passOn(keysBefore.intersection(full.keys), before, to: &left)
                folded.forget(keysBefore)
            }
            if quarantined.kind == .save {
                new.addOlder(folded, known, mayBeOnServer: mayBeOnServer)
                newer.merge(full.fields) { newer, _ in newer }
                newerUnknown.formUnion(full.keys.filter { newer[$0] == nil })
                noteTakenOver(full, row, besides: fields)
            }
            if !isKept { try queue.remove(quarantined) }
        }
    }

    /// Sets the originals of changes whose earlier changes are not sent.
    ///
    /// - Parameter changes: The newest first.
    private func passOn(
        _ keys: Set<String>, _ originals: [String: Field], to changes: inout [ChangeRow]
    ) throws {
        for key in keys {
            guard let index = changes.lastIndex(where: { $0.keys.contains(key) }) else { continue }
            changes[index].originals[key] = originals[key]
            try tables.queue.updateChange(changes[index])
        }
    }

    /// Returns true if a change was sent, and quarantined later because a value couldn't be restored.
    func mayBeOnServerInPart(_ change: ChangeRow) throws -> Bool {
        guard change.quarantineCode == QueueTables.unrestorableCode, change.kind == .save, !change.isDamaged
        else { return false }
        return try tables.queue.wasInFlight(change.sequence)
    }

    /// Reduces a change to its known values, which are sent before the new change. If the server has them already, they
    /// must not be taken for a change of another device.
    ///
    /// - Parameter asks: Whether the handler may be called for the rows, because none of them is being changed.
    /// - Returns: The known values, the change that was reduced to them (nil if there are none), and a change with the
    ///   values that can't be restored.
    func keepKnown(
        of change: ChangeRow, asks: Bool
    ) throws -> (known: [String: Field], left: ChangeRow?, rest: ChangeRow) {
        var (left, rest) = (change, change)
        let known =
            try asks
            ? tables.records.record(id: change.record).map { try rowValues.restored(change, of: $0).fields }
                ?? change.fields
            : change.with(queue.knownValues(of: change)).fields
        left.fields = known
        left.restore = [:]
        left.originals = change.originals.filter { known[$0.key] != nil }
        rest.fields = [:]
        rest.restore = change.restore.filter { known[$0.key] == nil }
        rest.originals = change.originals.filter { rest.restore[$0.key] != nil }
        if known.isEmpty {
            try queue.remove(change)
        } else {
            try tables.queue.updateChange(left)
            try tables.queue.liftQuarantine(of: left)
        }
        return (known, known.isEmpty ? nil : left, rest)
    }

    private func noteTakenOver(_ change: ChangeRow, _ row: RecordRow, besides fields: [String: Field]) {
        guard takenOver.count < RestoredValues.changesMax else { return }
        for key in change.keys where fields[key] == nil && takenOver[row.id]?[key] == nil {
            takenOver[row.id, default: [:]].updateValue(change.fields[key], forKey: key)
        }
    }

    /// Logs the values of earlier commits that this commit's change took over and now replaces.
    func logTakenOver(_ row: RecordRow, by fields: [String: Field]) {
        guard let earlier = takenOver[row.id] else { return }
        for (key, field) in earlier.sorted(by: { $0.key < $1.key }) {
            guard let newer = fields[key] else { continue }
            takenOver[row.id]?[key] = nil
            if field.map(newer.says) != true {
                log.note(row, key, .superseded, dropped: field, kept: newer)
            }
        }
    }

    /// Logs all values that this commit's change took over, because it is not sent.
    func logAllTakenOver(_ row: RecordRow) {
        for (key, field) in (takenOver.removeValue(forKey: row.id) ?? [:]).sorted(by: { $0.key < $1.key }) {
            log.note(row, key, .superseded, dropped: field, kept: nil)
        }
    }

    /// Forgets the values that this commit's changes took over.
    func forgetTakenOver(of row: RecordRow) { takenOver[row.id] = nil }
}

extension ChangeRow {
    fileprivate mutating func forget(_ keys: Set<String>) {
        guard !keys.isEmpty else { return }
        fields = fields.filter { !keys.contains($0.key) }
        restore = restore.filter { !keys.contains($0.key) }
        originals = originals.filter { !keys.contains($0.key) }
    }
}
