public import CloudKit
internal import CloudWire

/// The pending changes of one commit in one cloud database. It is a copy: changes of its records have no effect.
public struct YDBCKChangeSet: Sendable {
    /// Identifier of the change-set while it is pending.
    public let uuid: String
    /// Identifier of the cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// Whether an operation is sending a part of it.
    public let isInFlight: Bool
    /// The records to save, with the current system fields and the changed values only.
    public let recordsToSave: [CKRecord]
    /// The records to delete.
    public let recordIDsToDelete: [CKRecord.ID]
    let originals: [CKRecord.ID: [String: Field]]
    let sequence: Int64

    /// The identities of the records to save.
    public var recordIDsToSave: [CKRecord.ID] { recordsToSave.map(\.recordID) }

    /// Returns the values of a record before this change, by key; a value that was absent is nil.
    public func originalValues(for recordID: CKRecord.ID) -> [String: (any CKRecordValueProtocol)?] {
        (originals[recordID] ?? [:]).mapValues { $0.value?.cloudObject(in: recordID.zoneID) }
    }
}
