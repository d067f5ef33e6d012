internal import CloudKit
internal import CloudWire

/// One incarnation of a record. Its change tag is kept nowhere else.
///
/// If a record is deleted here while changes of it are queued, its row stays, without owners, until these are sent. A
/// record that is created again under the same name gets another row. So a new record never has the tag of a deleted
/// one.
struct RecordRow {
    var id: Int64
    var database: DatabaseKey
    var recordID: CKRecord.ID
    var generation: Int64
    var recordType: String
    var changeTag: String?
    /// Times, users and share, as the server sent them last.
    var system: [UInt8]
    /// Number of the app's rows that stand for the record.
    var ownerCount: Int64
    /// Whether a removed owner requested that the record be deleted on the server too.
    var wantsDeletion: Bool

    /// Returns the record without values, as it is passed to the app's blocks.
    func base() throws -> CKRecord {
        try CKRecord.restored(type: recordType, recordID: recordID, changeTag: changeTag, system: system)
    }

    /// Returns the record's parent, as a field.
    func parentField() throws -> [String: Field] {
        guard let parent = try base().parent else { return [:] }
        return [CKRecord.parentKey: try Field(cloudValue: parent, in: recordID.zoneID)]
    }
}

/// A save or deletion of one record in one change-set.
struct ChangeRow {
    var id: Int64
    var sequence: Int64
    var record: Int64
    var kind: SyncItem.Kind
    /// In a save: the changed fields; a cleared field has no value. In a deletion: the fields that the record had, if
    /// known.
    var fields: [String: Field]
    /// In a save: the values before the change, for the merge. In a deletion: the server's values of fields with
    /// changes that were never sent and were removed with the record.
    var originals: [String: Field]
    /// Further changed fields with values that only a row holds: the row's rowid, by key.
    var restore: [String: Int64] = [:]
    /// Why the change is quarantined: the code of an error of CloudKit, or a code of `QueueTables`; nil if it isn't.
    var quarantineCode: Int64?
    /// Stored place in the change-set; 0 in files of version 2.
    var ordinal: Int64 = 0
    /// Whether the stored change can't be read. It is left as it is.
    var isDamaged = false

    /// The place in the change-set.
    var place: Int64 { ordinal == 0 ? id : ordinal }

    /// Returns true if it saves values that differ from the previous ones.
    ///
    /// - Parameter defaults: Values that fields without a value stand for.
    func isEdit(defaults: [String: Field]) -> Bool {
        guard kind == .save else { return false }
        if isDamaged || !restore.isEmpty { return true }
        return fields.contains { key, field in
            guard let original = originals[key] else { return true }
            return !original.says(field) && !(original.value == nil && field.says(defaults[key]))
        }
    }

    /// The names of the changed fields.
    var keys: [String] { (Array(fields.keys) + Array(restore.keys)).sorted() }
}

/// A change-set's own row.
struct ChangeSetRow {
    var sequence: Int64
    var uuid: String
    var database: DatabaseKey
    var isInFlight: Bool
}
