public import CloudKit

/// A decision of the sync about one value or deletion: the rule, what happened to the value, and the kept value.
///
/// `kind` shows whether a value was lost:
///
/// ```swift
/// for await entry in sync.mergeLog where entry.kind == .lost {
///     print("\(entry.recordID.recordName): \(entry.dropped ?? "") was lost against \(entry.kept ?? "")")
/// }
/// ```
public struct CloudMergeLogEntry: Sendable {
    /// The rules.
    public enum Rule: String, Hashable, Sendable {
        /// Both devices changed the field. The remote value is kept, and nothing is uploaded.
        case remoteWon
        /// Only this device changed the field, or a rule chose its value. The local value is uploaded.
        case localKept
        /// Both devices changed the field. The field's own rule combined the values.
        case merged
        /// A later value of this device replaced the value before it was sent.
        case superseded
        /// Another device deleted the record while an edit was pending here. The edit won, and the record was created
        /// again.
        case editBeatDeletion
        /// The record was deleted here while another device edited it. The edit won, and the deletion was dropped.
        case deletionDropped
        /// Another device deleted the record, and the pending change was dropped with it.
        case deletedRemotely
        /// The server lost the record's newest version, because it was restored from a backup. This device's values
        /// were sent again. If another device has changed the record since, the server's values are kept.
        case serverWasReset
    }

    /// What happened to the replaced value.
    public enum Kind: String, Hashable, Sendable {
        /// The field's rule combined both values. The ready rules lose nothing: a sum includes what both devices added,
        /// and a list or set has all elements that either device added. Your own rule decides what it keeps.
        case combined
        /// A later value or deletion of this device replaced its own value before the server had that, as far as is
        /// known. The log has the value because it is stored nowhere else.
        case superseded
        /// One side's value or deletion isn't in the result: this device's by `remoteWon`, `deletionDropped` and
        /// `deletedRemotely`, the other device's by `localKept` and `editBeatDeletion`.
        case lost
        /// The server went back to an earlier version and lost the value, and this device sends it again.
        case restored
    }

    /// Number of the decision in this database. After a crash the last entries may be delivered again, with the same
    /// numbers.
    public internal(set) var id: Int64 = 0
    /// The record.
    public let recordID: CKRecord.ID
    /// The field; nil for a decision about the whole record.
    public let field: String?
    /// The rule that decided.
    public let rule: Rule
    /// What happened to the replaced value. Nil in an entry that an earlier version of the library wrote.
    public let kind: Kind?
    /// The replaced value: this device's queued value, or the server's value by the rules `localKept` and
    /// `serverWasReset`. Nil if it cleared the field, or is unknown.
    package let replacedValue: MergeLogValue?
    /// The kept value, or the value of this device that replaced a superseded one; nil if there is none.
    package let keptValue: MergeLogValue?

    package init(
        recordID: CKRecord.ID, field: String?, rule: Rule, kind: Kind?, replaced: MergeLogValue? = nil,
        kept: MergeLogValue? = nil
    ) {
        self.recordID = recordID
        self.field = field
        self.rule = rule
        self.kind = kind
        replacedValue = replaced
        keptValue = kept
    }

    /// The lost value. Nil if no value was lost, which `kind` shows, or if the value cleared the field.
    ///
    /// In an entry without a kind it is the replaced value, even if that wasn't lost.
    public var dropped: String? { kind == .lost || kind == nil ? replaced : nil }
    /// The replaced value; `kind` shows what happened to it. Nil if it cleared the field, or is unknown.
    ///
    /// A value is cut at 1,000 bytes, and "…" and its whole length are appended. A date is in ISO 8601 in UTC. Of
    /// bytes, the number and the first eight are shown.
    public var replaced: String? { replacedValue?.words }
    /// The kept value, or the value of this device that replaced a superseded one; cut as `replaced`. Nil if there is
    /// none.
    public var kept: String? { keptValue?.words }
}

extension CloudMergeLogEntry.Rule {
    /// What usually happens to a value that the rule decides against.
    var usualKind: CloudMergeLogEntry.Kind {
        switch self {
        case .remoteWon, .localKept, .editBeatDeletion, .deletionDropped, .deletedRemotely: .lost
        case .merged: .combined
        case .superseded: .superseded
        case .serverWasReset: .restored
        }
    }
}

extension CloudMergeLogEntry: CustomStringConvertible {
    /// The decision in one line.
    public var description: String {
        var words = [rule.rawValue]
        if let kind, kind.rawValue != rule.rawValue { words.insert(kind.rawValue, at: 0) }
        if let dropped {
            words.append("dropped \"\(dropped)\"")
            if let kept { words.append("kept \"\(kept)\"") }
        } else if let replaced {
            words.append("\"\(replaced)\" became " + (kept.map { "\"\($0)\"" } ?? "nothing"))
        } else if let kept {
            words.append("kept \"\(kept)\"")
        }
        return recordID.recordName + (field.map { ".\($0)" } ?? "") + ": " + words.joined(separator: ", ")
    }
}
