internal import CloudWire

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
        stored = fields.filter { RowValues.mustStore($0.key, $0.value) }
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
