internal import CloudWire

/// Log of the values that a transaction's merges and changes dropped. Stored with the commit.
final class MergeLog {
    private let table: MergeLogTable
    private(set) var entries: [CloudMergeLogEntry] = []

    init(_ table: MergeLogTable) { self.table = table }

    /// Notes a dropped value.
    /// - Parameter kind: What happened to the value; nil is the usual kind of the rule.
    func note(
        _ row: RecordRow, _ key: String?, _ rule: CloudMergeLogEntry.Rule,
        kind: CloudMergeLogEntry.Kind? = nil, dropped: Field?, kept: Field?
    ) {
        entries.append(
            CloudMergeLogEntry(
                recordID: row.recordID, field: key, rule: rule, kind: kind ?? rule.usualKind,
                replaced: dropped?.value.map { MergeLogValue($0) },
                kept: kept?.value.map { MergeLogValue($0) }))
    }

    /// Notes the values of a change that newer values of this device replace before it was sent.
    /// - Parameters:
    ///   - fields: The newer values; none means that nothing of the change is sent.
    ///   - unknown: The keys with a newer value that only a row holds.
    func noteSuperseded(
        _ change: ChangeRow, _ row: RecordRow, by fields: [String: Field], unknown: Set<String> = []
    ) {
        guard change.kind == .save else { return }
        func isReplaced(_ key: String) -> Bool {
            fields.isEmpty || fields[key] != nil || unknown.contains(key)
        }
        for (key, field) in change.fields.sorted(by: { $0.key < $1.key }) where isReplaced(key) {
            if let newer = fields[key], newer.says(field) { continue }
            note(row, key, .superseded, dropped: field, kept: fields[key])
        }
        // Values that only a row had, and that can't be restored.
        for key in change.restore.keys.sorted() where change.fields[key] == nil && isReplaced(key) {
            note(row, key, .superseded, dropped: nil, kept: fields[key])
        }
    }

    /// Stores the entries, which get their numbers.
    func store() throws {
        for index in entries.indices { try table.insert(&entries[index]) }
    }

    func makeRestorePoint() -> () -> Void {
        let entries = entries
        return { [self] in self.entries = entries }
    }
}
