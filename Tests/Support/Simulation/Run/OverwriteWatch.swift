/// Watches what the server's fields go through: no device overwrites a value that it had not seen when its person set
/// another one, no value comes back over a later one, and no deleted record comes back with what it had. Only a merge
/// log may say otherwise.
package struct OverwriteWatch: Sendable {
    package typealias Value = Ledger.Value

    private struct Field: Hashable {
        let record: String
        let field: String
    }

    private struct Edit {
        let device: Int
        /// What the device's row had in its place.
        let before: Value?
        /// Whether it made an object whose user had left the device before, and may have known it then, or was the
        /// first to set a field of such an object.
        let isBlind: Bool
        /// How often the server had gone back to an earlier version.
        let restores: Int
    }

    /// A value that was set in a version of the app that didn't sync its field.
    private struct Unsynced {
        /// The device that had it first.
        let device: Int
        /// What may have been in the device's queue of the field: values that earlier upgrades had queued, and values
        /// that queued edits were made from. Where the server has one of them, it is what the value was changed from.
        let queuedBefore: Set<Value>
    }

    /// A field of the server that has another value than before.
    private struct Replacement {
        let before: Value
        let after: Value
        let isReturn: Bool
        let restores: Int
    }

    private var edits = [Value: Edit]()
    /// By device: the last value of a field that its person cleared or deleted there, until another one is set.
    private var removed = [Int: [Field: Value]]()
    /// What the server's live records have, as far as they were written since it was last put back.
    private var current = [String: [String: Value]]()
    /// Values that stood on the server since then, and do no longer: in a record that lives, and with one that was
    /// deleted.
    private var replaced = Set<Value>()
    private var deleted = Set<Value>()
    private var replacements = [Replacement]()
    private var recordsThatCameBack = Set<String>()
    /// What merge logs say of values that were kept against others, and of records that were made again.
    private var keptValues = Set<Value>()
    private var recordsMadeAgain = Set<String>()

    /// Records that somebody deleted, and deletions that nobody committed.
    private var recordsDeleted = Set<String>()
    private var strayDeletions = Set<String>()

    private var unsyncedValues = [Value: Unsynced]()
    /// By device, since it last came to rest: what its rows had of new fields at upgrades, and what its edits were made
    /// from.
    private var queued = [Int: [Field: Set<Value>]]()
    private var restores = 0
    private var emptiedDevices = Set<Int>()
    /// By device: what was made by one whose user had left it before.
    private var recordsMadeBlindly = [Int: Set<String>]()
    private var devicesThatStartedOver = Set<Int>()

    // MARK: What devices do

    /// - Parameters:
    ///   - before: What the row had; nil for nothing.
    ///   - isCertain: False for a commit that failed, which may be found in the file later.
    mutating func committed(
        device: Int, _ value: Value, before: String?, isInsert: Bool, isCertain: Bool = true
    ) {
        let field = Field(record: value.record, field: value.field)
        let seen =
            before.map { Value(record: value.record, field: value.field, value: $0) }
            ?? removed[device]?[field]
        // From now on the person sees this value: what was removed before it says nothing of what comes next.
        if isCertain, value.value != Ledger.cleared { removed[device]?[field] = nil }
        if isInsert, emptiedDevices.contains(device) {
            recordsMadeBlindly[device, default: []].insert(value.record)
        }
        if let seen { queued[device, default: [:]][field, default: []].insert(seen) }
        let wasMadeBlindly = recordsMadeBlindly[device]?.contains(value.record) ?? false
        edits[value] = Edit(
            device: device, before: seen, isBlind: wasMadeBlindly && (isInsert || seen == nil),
            restores: restores)
    }

    /// Its rows went with their user. What waits of them is still known, with the version that it was made from: an
    /// object that is made under the same name counts as a change of that version.
    mutating func emptied(device: Int) {
        emptiedDevices.insert(device)
        startedOver(device: device)
    }

    /// It fetches everything again. What was sent before and not answered goes under another name after that, and is
    /// made again where another device has deleted it.
    mutating func startedOver(device: Int) {
        devicesThatStartedOver.insert(device)
    }

    /// A version of the app that doesn't sync the field set it: what it was changed from is unknown, unless the queue
    /// has that.
    mutating func unsynced(device: Int, _ value: Value) {
        let field = Field(record: value.record, field: value.field)
        let queuedBefore = queued[device]?[field] ?? []
        if edits[value] == nil, unsyncedValues[value] == nil {
            unsyncedValues[value] = Unsynced(device: device, queuedBefore: queuedBefore)
        }
        queued[device, default: [:]][field, default: []].insert(value)
    }

    /// Nothing waits in its file: what was queued is sent or given up.
    mutating func cameToRest(device: Int) {
        queued[device] = nil
    }

    mutating func removed(device: Int, _ value: Value) {
        removed[device, default: [:]][Field(record: value.record, field: value.field)] = value
    }

    mutating func committedDeletion(of record: String) {
        recordsDeleted.insert(record)
    }

    mutating func kept(_ value: Value) {
        keptValues.insert(value)
    }

    mutating func madeAgain(record: String) {
        recordsMadeAgain.insert(record)
    }

    // MARK: What the server has

    /// - Parameter isLate: Whether the device had given the request up that wrote them. It knows of no deletion since
    ///   then, and the service can't tell it from one that is made now.
    mutating func serverHas(record: String, _ values: [Value], isLate: Bool) {
        let before = current[record]
        for value in values {
            if before == nil, !isLate, deleted.contains(value), !isMadeByOneThatStartedOver(value) {
                recordsThatCameBack.insert(record)
            }
            let isReturn = replaced.remove(value) != nil
            guard let old = before?[value.field], old != value else { continue }
            replaced.insert(old)
            replacements.append(
                Replacement(before: old, after: value, isReturn: isReturn, restores: restores))
        }
        current[record] = Dictionary(uniqueKeysWithValues: values.map { ($0.field, $0) })
    }

    private func isMadeByOneThatStartedOver(_ value: Value) -> Bool {
        edits[value].map { devicesThatStartedOver.contains($0.device) } ?? true
    }

    mutating func serverDeleted(record: String) {
        deleted.formUnion(current.removeValue(forKey: record)?.values.map(\.self) ?? [])
        if !recordsDeleted.contains(record) { strayDeletions.insert(record) }
    }

    /// The server went back to an earlier version: devices may send again what it lost.
    mutating func serverWasRestored() {
        (current, replaced, deleted) = ([:], [], [])
        restores += 1
    }

    // MARK: What is wrong

    /// What was overwritten, or came back, and no merge log tells of it.
    package var faults: [String] {
        let cameBack = recordsThatCameBack.subtracting(recordsMadeAgain).sorted()
        return strayDeletions.sorted().map { "\($0) was deleted, and nobody had done that" }
            + cameBack.map { "\($0) came back after it was deleted" }
            + replacements.compactMap(fault)
    }

    private func fault(_ replacement: Replacement) -> String? {
        let (before, after) = (replacement.before, replacement.after)
        guard before != after, !keptValues.contains(after) else { return nil }
        let place = "\(after.record).\(after.field)"
        if replacement.restores == 0, let unsynced = unsyncedValues[after],
            unsynced.device != edits[before]?.device ?? unsyncedValues[before]?.device,
            !unsynced.queuedBefore.contains(before)
        {
            let device = unsynced.device
            return "device \(device) set \(place) = \(after.value) unsynced, and it came over \(before.value)"
        }
        // What was changed before the server went back is sent over whatever it went back to.
        guard let edit = edits[after], edit.restores == replacement.restores else { return nil }
        if replacement.isReturn { return "\(place) = \(after.value) came back over \(before.value)" }
        if hasSeen(before, edit) { return nil }
        return
            "device \(edit.device) set \(place) = \(after.value) over \(before.value), which it had not seen"
    }

    /// Whether an edit was made where the value stood, or on top of the same device's edits of it.
    private func hasSeen(_ value: Value, _ edit: Edit) -> Bool {
        var edit = edit
        while true {
            // A field that was cleared is cleared again on a server that went back, and may be set before that is sent.
            guard !edit.isBlind, let before = edit.before else { return edit.isBlind || edit.restores > 0 }
            if before == value { return true }
            if unsyncedValues[before] != nil { return true }
            guard let earlier = edits[before] else { return false }
            if earlier.restores < edit.restores { return true }
            guard earlier.device == edit.device else { return false }
            edit = earlier
        }
    }
}
