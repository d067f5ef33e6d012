public import CloudKit

/// One local value or deletion that a sync decided about: by which rule, what became of it, and what stands now.
///
/// `kind` says whether anything was lost:
///
/// ```swift
/// for await entry in sync.mergeLog where entry.kind == .lost {
///     print("\(entry.recordID.recordName): \(entry.dropped ?? "") was lost against \(entry.kept ?? "")")
/// }
/// ```
public struct CloudMergeLogEntry: Sendable {
    /// The rules.
    public enum Rule: String, Hashable, Sendable {
        /// Both changed the field: the remote value stands, and nothing is uploaded.
        case remoteWon
        /// Only this device changed the field, or a rule chose so: the local value is uploaded.
        case localKept
        /// Both changed the field: the field's own rule made one value of both.
        case merged
        /// The value never left the device: a later value of this device took its place.
        case superseded
        /// The record was deleted by another device while an edit waited here: the edit won, the record was
        /// made again.
        case editBeatDeletion
        /// The record was deleted here while another device edited it: the edit won, the deletion was
        /// dropped.
        case deletionDropped
        /// The record was deleted by another device, and the change that waited here was dropped with it.
        case deletedRemotely
        /// The server lost the record's newest version (a restored backup): this device's values were sent
        /// again. Where another device has changed the record since, the server's values stand.
        case serverWasReset
    }

    /// What became of the value that doesn't stand.
    public enum Kind: String, Hashable, Sendable {
        /// The field's rule made one value of both sides' values. The ready rules lose nothing: a sum has what both
        /// devices added, a list or set has what either added. What a rule of your own keeps is its own decision.
        case combined
        /// A later value or deletion of this device took the place of its own value before the server had that, as
        /// far as is known. The log has it because it is in no other place.
        case superseded
        /// One side's value or deletion isn't in the result: this device's by `remoteWon`, `deletionDropped` and
        /// `deletedRemotely`, the other device's by `localKept` and `editBeatDeletion`.
        case lost
        /// The server went back to an earlier version and lost the value, and this device sends it again.
        case restored
    }

    /// Counts the decisions of this device. After a crash the last entries may be handed out a second time:
    /// with the same numbers.
    public internal(set) var id: Int64 = 0
    /// The record.
    public let recordID: CKRecord.ID
    /// The field; nil when the whole record is meant.
    public let field: String?
    /// The rule that decided.
    public let rule: Rule
    /// What became of the value that doesn't stand. Nil in an entry that an earlier version of the library wrote.
    public let kind: Kind?
    /// The value that doesn't stand: this device's, which the queue held, or the server's by the rules `localKept`
    /// and `serverWasReset`. Nil when it cleared the field, or is unknown.
    package let replacedValue: MergeLogValue?
    /// The value that stands, or that of this device which took the place of a superseded one; nil when there is none.
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

    /// The value that was lost. Nil when nothing was, which `kind` says, or when the value cleared the field.
    ///
    /// In an entry without a kind it is the value that doesn't stand, lost or not.
    public var dropped: String? { kind == .lost || kind == nil ? replaced : nil }
    /// The value that doesn't stand: what `kind` says became of it. Nil when it cleared the field, or is unknown.
    ///
    /// A value is cut at 1,000 bytes, with "…" and its whole length. A date is in ISO 8601 in UTC, and of bytes their
    /// number and the first eight are shown.
    public var replaced: String? { replacedValue?.words }
    /// The value that stands, or that of this device which took the place of a superseded one; cut as `replaced`. Nil
    /// when there is none.
    public var kept: String? { keptValue?.words }
}

extension CloudMergeLogEntry.Rule {
    /// What becomes of a value that the rule decides against, unless more is known of it.
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
