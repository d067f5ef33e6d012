public import CloudKit
internal import CloudWire

/// What one commit changed in one cloud database, as it waits to be uploaded. A copy: changing its records
/// changes nothing.
public struct YDBCKChangeSet: Sendable {
    /// Names the change-set for as long as it waits.
    public let uuid: String
    /// Which cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// Whether an operation has something of it just now.
    public let isInFlight: Bool
    /// The records to save: the current system fields, and the changed values only.
    public let recordsToSave: [CKRecord]
    /// The records to delete.
    public let recordIDsToDelete: [CKRecord.ID]
    let originals: [CKRecord.ID: [String: Field]]
    let sequence: Int64

    /// The identities of the records to save.
    public var recordIDsToSave: [CKRecord.ID] { recordsToSave.map(\.recordID) }

    /// The values of a record before this change, by key; a value that was absent is nil.
    public func originalValues(for recordID: CKRecord.ID) -> [String: (any CKRecordValueProtocol)?] {
        (originals[recordID] ?? [:]).mapValues { $0.value?.cloudObject(in: recordID.zoneID) }
    }
}
