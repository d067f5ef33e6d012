internal import CloudKit
internal import CloudWire

/// Quarantined changes of a record that the app changes again.
extension ChangeRecorder {
    /// Changes of a record that are folded into a new one or sent before it. A conflict that never settled is sent
    /// again, before the new change, for the server may have it. If the server never had the record, the conflict is
    /// folded like a refusal.
    func specialChanges(besideNewOf row: RecordRow) throws -> [ChangeRow] {
        let special = try tables.queue.specialChanges(of: row.id)
        guard row.changeTag != nil, special.contains(where: { $0.refusal == QueueTables.stuckRefusal })
        else { return special }
        try tables.queue.liftRefusals(code: QueueTables.stuckRefusal, of: row.id)
        return try tables.queue.specialChanges(of: row.id)
    }

    /// Folds refused changes into the new one, which may correct them: of each key the newest value.
    func fold(
        _ special: [ChangeRow], of row: RecordRow, into new: inout NewValues, _ fields: [String: Field],
        heldBy rowID: Int64?
    ) throws {
        var newer = fields
        var newerUnknown: Set<String> = []
        var keysBefore: Set<String> = []
        var left: [ChangeRow] = []
        for refused in special.reversed() where refused.refusal != nil && !refused.isDamaged {
            let isKept = try mayBeOnServerInPart(refused)
            var folded = refused
            if isKept {
                let kept = try keepKnown(of: refused, asks: rowID == nil)
                folded = kept.rest
                keysBefore.formUnion(kept.known.keys)
                if let change = kept.left { left.append(change) }
            }
            let known = try isKept ? [:] : queue.knownValues(of: refused)
            let full = folded.with(known)
            log.noteSuperseded(full, row, by: newer, unknown: newerUnknown.union(isKept ? [] : keysBefore))
            let mayBeOnServer =
                try isKept || row.changeTag != nil || tables.queue.wasInFlight(refused.sequence)
            if !isKept {
                let before = full.originals.merging(mayBeOnServer ? full.fields : [:]) { original, _ in
                    original
                }
                try passOn(keysBefore.intersection(full.keys), before, to: &left)
                folded.forget(keysBefore)
            }
            if refused.kind == .save {
                new.addOlder(folded, known, mayBeOnServer: mayBeOnServer)
                newer.merge(full.fields) { newer, _ in newer }
                newerUnknown.formUnion(full.keys.filter { newer[$0] == nil })
                noteTakenOver(full, row, besides: fields)
            }
            if !isKept { try queue.remove(refused) }
        }
    }

    /// Sets the originals of changes that are sent first, when the changes before them are not sent.
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

    /// Whether a change was sent, and quarantined later because a value couldn't be restored.
    func mayBeOnServerInPart(_ change: ChangeRow) throws -> Bool {
        guard change.refusal == QueueTables.unrestorableRefusal, change.kind == .save, !change.isDamaged
        else { return false }
        return try tables.queue.wasInFlight(change.sequence)
    }

    /// Leaves in a change the values that are known, to be sent before what is queued now: when the server turns out to
    /// have them, that is no change of another device.
    ///
    /// - Parameter asks: Whether the handler may be called for the rows: none of them is being changed.
    /// - Returns: The values that are known, the change that was left with them (nil when there are none), and the
    ///   change with the values that can't be restored.
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
            try tables.queue.liftRefusal(of: left)
        }
        return (known, known.isEmpty ? nil : left, rest)
    }

    private func noteTakenOver(_ change: ChangeRow, _ row: RecordRow, besides fields: [String: Field]) {
        guard takenOver.count < RestoredValues.changesMax else { return }
        for key in change.keys where fields[key] == nil && takenOver[row.id]?[key] == nil {
            takenOver[row.id, default: [:]].updateValue(change.fields[key], forKey: key)
        }
    }

    /// Notes the values of earlier commits that this commit's change took over, and now says otherwise.
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

    /// Notes all that this commit's change took over: it is not sent.
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
