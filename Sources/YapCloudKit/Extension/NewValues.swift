internal import CloudWire

/// The values of a save that is being queued: stored values, and values that only a row holds.
struct NewValues {
    var stored: [String: Field]
    var restore: [String: Int64] = [:]
    /// The values that rows hold, for the cache.
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

    /// Adds the values of an earlier change for other keys.
    ///
    /// - Parameter mayBeOnServer: Whether the server may have the earlier change: it has the record, or the change was
    ///   sent.
    mutating func addOlder(_ change: ChangeRow, _ known: [String: Field], mayBeOnServer: Bool) {
        // If an earlier change has no original, the value before it is unknown. Its own value is the best guess,
        // because another version of the app may have set the value already.
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
    /// Returns the change with known values that aren't stored in it.
    func with(_ known: [String: Field]) -> ChangeRow {
        var change = self
        change.fields.merge(known) { stored, _ in stored }
        return change
    }
}
