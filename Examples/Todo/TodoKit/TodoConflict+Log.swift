internal import CloudKit
public import YapCloudKit

extension TodoConflict {
    /// Takes over an entry of the sync's log.
    public init(_ entry: CloudMergeLogEntry) {
        self.init(
            key: entry.recordID.recordName, rule: entry.rule.rawValue, field: entry.field,
            dropped: entry.replaced, kept: entry.kept)
    }
}
