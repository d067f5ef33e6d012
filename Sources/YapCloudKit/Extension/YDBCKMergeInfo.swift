public import CloudKit

/// The pending changes of a record for the merge block, and the block's result.
///
/// CloudKit doesn't report which values another device changed. Compare the remote value with `originalValues`: if they
/// differ, another device changed it.
public final class YDBCKMergeInfo {
    /// The newest pending value of each changed key, with the remote record's system fields; nil if no change is
    /// pending.
    public let pendingLocalRecord: CKRecord?

    /// The block's result: the values to upload. It is empty at first. A pending value that isn't copied here is
    /// dropped.
    public let updatedPendingLocalRecord: CKRecord

    /// The values before the first pending change of each key; a value that was absent is nil.
    public let originalValues: [String: (any CKRecordValueProtocol)?]

    /// Whether the remote version was known here before. Then the pending changes are newer than all of its values.
    let isKnown: Bool

    /// Keys with a value that a rule combined from the changes of both sides.
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
