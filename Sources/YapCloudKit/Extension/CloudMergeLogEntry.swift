public import CloudKit
package import CloudWire

/// One local value or deletion that a sync decided about, and the rule by which: who won, and what was
/// dropped.
public struct CloudMergeLogEntry: Sendable {
    /// The rules.
    public enum Rule: String, Hashable, Sendable {
        /// Both changed the field: the remote value won, the local one was dropped.
        case remoteWon
        /// Only this device changed the field, or the app's merge block chose so: the local value is
        /// uploaded.
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

    /// Counts the decisions of this device. After a crash the last entries may be handed out a second time:
    /// with the same numbers.
    public internal(set) var id: Int64 = 0
    /// The record.
    public let recordID: CKRecord.ID
    /// The field; nil when the whole record is meant.
    public let field: String?
    /// The rule that decided.
    public let rule: Rule
    /// The local value that the queue held and that is not sent; nil when it cleared the field, or nothing
    /// was dropped.
    package let droppedValue: FieldValue?
    /// The value that stands now; nil when there is none.
    package let keptValue: FieldValue?

    package init(
        recordID: CKRecord.ID, field: String?, rule: Rule, droppedValue: FieldValue? = nil,
        keptValue: FieldValue? = nil
    ) {
        self.recordID = recordID
        self.field = field
        self.rule = rule
        self.droppedValue = droppedValue
        self.keptValue = keptValue
    }

    /// What was dropped and what stands, as words.
    public var dropped: String? { droppedValue?.words }
    /// The value that stands now, as words.
    public var kept: String? { keptValue?.words }
}

extension FieldValue {
    /// The value as a person reads it.
    var words: String {
        switch self {
        case .string(let value): value
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .timestamp(let milliseconds): "\(milliseconds) ms"
        case .bytes(let bytes), .encryptedBytes(let bytes): "\(bytes.count) bytes"
        case .reference(let reference): reference.recordName
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .asset(let asset): asset.fileChecksum ?? "a file"
        case .list(_, let values): "[" + values.map(\.words).joined(separator: ", ") + "]"
        }
    }
}

extension CloudMergeLogEntry: CustomStringConvertible {
    /// The decision in one line.
    public var description: String {
        var text = "\(recordID.recordName)"
        if let field { text += ".\(field)" }
        text += ": \(rule.rawValue)"
        if let dropped { text += ", dropped \"\(dropped)\"" }
        if let kept { text += ", kept \"\(kept)\"" }
        return text
    }
}
