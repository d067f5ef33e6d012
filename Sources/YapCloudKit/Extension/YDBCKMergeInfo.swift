public import CloudKit

/// What the merge block is told about the changes that wait for a record, and what it answers.
///
/// CloudKit doesn't say which values another device changed. Comparing the remote value with `originalValues`
/// does: if they differ, it was changed there.
public final class YDBCKMergeInfo {
    /// The changes that wait in the queue, the newest value of each key, on the remote record's system
    /// fields; nil when none wait.
    public let pendingLocalRecord: CKRecord?

    /// The block's answer: the values that shall be uploaded. It begins empty; a pending value that is not
    /// copied here is dropped.
    public let updatedPendingLocalRecord: CKRecord

    /// The values before the pending changes, by key, the earliest of each; a value that was absent is nil.
    public let originalValues: [String: (any CKRecordValueProtocol)?]

    /// Whether the remote version was known here before: then the pending changes are newer than all that it has.
    let isKnown: Bool

    /// The keys of which a rule made one value that has the changes of both sides.
    var combinedKeys: Set<String> = []

    init(
        pendingLocalRecord: CKRecord?, updatedPendingLocalRecord: CKRecord,
        originalValues: [String: (any CKRecordValueProtocol)?], isKnown: Bool = false
    ) {
        self.pendingLocalRecord = pendingLocalRecord
        self.updatedPendingLocalRecord = updatedPendingLocalRecord
        self.originalValues = originalValues
        self.isKnown = isKnown
    }
}
