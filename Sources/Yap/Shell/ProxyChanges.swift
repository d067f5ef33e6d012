/// Pending changes of a proxy: optionally empties the collection, then changes rows.
struct ProxyChanges<Object: Sendable>: Sendable {
    enum Change: Sendable {
        /// Sets object and metadata, and inserts the row if it doesn't exist.
        case set(Object, metadata: (any Sendable)?)
        case remove
        /// Sets parts of the row, if it exists.
        case replace(ProxyReplacement<Object>)
    }

    /// True if the collection is emptied before the rows change.
    private(set) var removesAll = false
    /// The last change of each key, and its place in the order of all changes.
    private var changes: [ExactString: (number: UInt64, change: Change)] = [:]

    /// Number of changed rows.
    var count: Int { changes.count }
    var isEmpty: Bool { changes.isEmpty && !removesAll }

    /// Number of steps. Removing all rows is one step.
    var stepsCount: Int { count + (removesAll ? 1 : 0) }
    /// Number of the oldest change of a row, or nil if there is none.
    var firstNumber: UInt64? { changes.values.map(\.number).min() }

    /// The change that determines the value of the row of `key`, or nil if the stored row is current.
    subscript(key: String) -> Change? {
        changes[ExactString(key)]?.change ?? (removesAll ? .remove : nil)
    }

    /// Returns true if there is a change for this row itself.
    func hasChange(of key: String) -> Bool { changes[ExactString(key)] != nil }

    /// Changes of rows in the order in which the app made them.
    var inOrder: [(key: String, change: Change)] {
        changes.sorted { $0.value.number < $1.value.number }.map { ($0.key.string, $0.value.change) }
    }

    /// Adds a change. Returns the replaced one, to be released after the lock.
    mutating func add(_ change: Change, _ key: String, number: UInt64) -> Change? {
        let change = self[key]?.followed(by: change) ?? change
        return changes.updateValue((number, change), forKey: ExactString(key))?.change
    }

    /// Removes the change of a row, and returns it, to be released after the lock.
    mutating func discard(_ key: String) -> Change? {
        changes.removeValue(forKey: ExactString(key))?.change
    }

    /// Cancels the removal of all rows.
    mutating func discardRemovalOfAll() { removesAll = false }

    /// Splits off the changes after the first steps.
    ///
    /// - Parameter max: Maximum number of steps that stay, at least 1.
    /// - Returns: The remaining steps.
    mutating func split(after max: Int) -> ProxyChanges {
        var rest = ProxyChanges()
        guard stepsCount > max else { return rest }
        let inOrder = changes.sorted { $0.value.number < $1.value.number }
        for (key, change) in inOrder.dropFirst(removesAll ? max - 1 : max) {
            changes[key] = nil
            rest.changes[key] = change
        }
        return rest
    }

    /// Adds the removal of all rows. Earlier changes are discarded, because the removal makes them irrelevant.
    mutating func addRemovalOfAll() {
        changes = [:]
        removesAll = true
    }

    /// Returns these changes followed by newer ones.
    func followed(by newer: ProxyChanges) -> ProxyChanges {
        if newer.removesAll { return newer }
        var all = self
        for (key, new) in newer.changes {
            let change = self[key.string]?.followed(by: new.change) ?? new.change
            all.changes[key] = (new.number, change)
        }
        return all
    }

    /// Writes the changes, and reports the key of each before it is written.
    func write(
        _ transaction: YapDatabaseReadWriteTransaction, _ collection: String, note: (_ key: String?) -> Void
    ) throws {
        if removesAll { try transaction.removeAllObjects(inCollection: collection) }
        for (key, change) in inOrder {
            note(key)
            switch change {
            case .set(let object, let metadata?):
                try transaction.setObject(object, metadata: metadata, forKey: key, inCollection: collection)
            case .set(let object, nil):
                try transaction.setObject(object, forKey: key, inCollection: collection)
            case .remove: try transaction.removeObject(forKey: key, inCollection: collection)
            case .replace(let replacement): try replacement.write(transaction, key, collection)
            }
        }
        note(nil)
    }
}

extension ProxyChanges.Change {
    /// Returns this change and a newer one of the same row, combined.
    func followed(by newer: Self) -> Self {
        guard case .replace(let new) = newer else { return newer }
        switch self {
        case .set(let object, let metadata):
            return .set(new.object ?? object, metadata: new.metadata.value(instead: metadata))
        case .remove: return .remove
        case .replace(let old):
            return .replace(
                ProxyReplacement(
                    object: new.object ?? old.object,
                    metadata: new.metadata.isKept ? old.metadata : new.metadata)
            )
        }
    }
}
