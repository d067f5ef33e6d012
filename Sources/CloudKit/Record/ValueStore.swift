/// A record's fields, their last values on the server, and the keys that have changed since.
package struct ValueStore: Sendable, Hashable {
    /// The fields with a value.
    package private(set) var values: [String: RecordFieldValue] = [:]
    /// The fields as the server last sent or saved them.
    package private(set) var originals: [String: RecordFieldValue] = [:]
    /// The keys that were set since then, also to nil or to the same value.
    package private(set) var changedKeys: Set<String> = []

    package init() {}

    /// Makes fields that came from the server, without changes.
    package init(fetched values: [String: RecordFieldValue]) {
        self.values = values
        originals = values
    }

    init(values: [String: RecordFieldValue], originals: [String: RecordFieldValue], changedKeys: Set<String>)
    {
        self.values = values
        self.originals = originals
        self.changedKeys = changedKeys
    }

    package subscript(key: String) -> RecordFieldValue? {
        get { values[key] }
        set {
            values[key] = newValue
            changedKeys.insert(key)
        }
    }

    /// Sets a field.
    /// - Returns: the previous value, which the caller releases after the record's lock: its release may run code of
    ///   the app (a subclass of `CLLocation`, bytes with a deallocator).
    mutating func replace(_ key: String, with value: RecordFieldValue?) -> RecordFieldValue? {
        defer { self[key] = value }
        return values[key]
    }

    /// True if a field holds a file, alone or in a list.
    var hasAssets: Bool { values.values.contains(where: \.hasAssets) }

    /// Returns the keys that a save sends, in any order.
    func sentKeys(_ policy: CKModifyRecordsOperation.RecordSavePolicy) -> [String] {
        guard policy == .allKeys else { return Array(changedKeys) }
        return values.keys + changedKeys.filter { values[$0] == nil }
    }

    /// Updates the changed keys after the server has saved `sent`. A key that was set to another value since stays
    /// changed.
    mutating func wasSaved(sent: ValueStore) {
        originals = sent.values
        changedKeys = changedKeys.filter { key in
            guard let value = values[key], let sent = sent.values[key] else {
                return values[key] != sent.values[key]
            }
            return !value.isStill(sent)
        }
    }

    /// The same fields without changes, with transformed values.
    func fetchedValues(_ transform: (String, RecordFieldValue) -> RecordFieldValue) -> ValueStore {
        ValueStore(fetched: Dictionary(uniqueKeysWithValues: values.map { ($0, transform($0, $1)) }))
    }

    /// The same fields with the server's last known values.
    var ancestor: ValueStore { ValueStore(fetched: originals) }
}

extension RecordFieldValue {
    /// Returns true if it is the value that was sent. Another asset of the same file isn't, because the file may have
    /// changed.
    fileprivate func isStill(_ sent: RecordFieldValue) -> Bool {
        switch (self, sent) {
        case (.asset(let asset), .asset(let sent)): asset === sent
        case (.list(let values), .list(let sent)):
            values.count == sent.count && zip(values, sent).allSatisfy { $0.isStill($1) }
        default: self == sent
        }
    }
}
