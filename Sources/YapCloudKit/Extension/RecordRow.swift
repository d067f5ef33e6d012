internal import CloudKit
internal import CloudWire

/// One life of a record: the only place where its change tag is kept.
///
/// A record that is deleted here while the queue still speaks of it keeps its row, without owners, until the
/// queue has passed; one made again under the same name is another row. So a tag never leaks over a deletion.
struct RecordRow {
    var id: Int64
    var database: DatabaseKey
    var recordID: CKRecord.ID
    var generation: Int64
    var recordType: String
    var changeTag: String?
    /// Times, users and share as the server last sent them.
    var system: [UInt8]
    /// How many rows of the app stand for the record.
    var ownerCount: Int64
    /// Whether any owner that went wants the record deleted on the server too.
    var wantsDeletion: Bool

    /// The record without values, as the app's blocks get it.
    func base() throws -> CKRecord {
        try CKRecord.restored(type: recordType, recordID: recordID, changeTag: changeTag, system: system)
    }

    /// What the record pointed at by its parent, as a field.
    func parentField() throws -> [String: Field] {
        guard let parent = try base().parent else { return [:] }
        return [CKRecord.parentKey: try Field(cloudValue: parent, in: recordID.zoneID)]
    }
}

/// What is to be done with one record in one change-set.
struct ChangeRow {
    var id: Int64
    var sequence: Int64
    var record: Int64
    var kind: SyncItem.Kind
    /// A save: the changed fields, a cleared one without value. A deletion: the fields that the record had,
    /// if known.
    var fields: [String: Field]
    /// The values before the change, for the merge. A deletion: the server's values of fields with changes that were
    /// never sent and were removed with the record.
    var originals: [String: Field]
    /// Further changed fields, with values in a row only: its rowid, by key.
    var restore: [String: Int64] = [:]
    /// Why the change was put aside: the code of an error, or one of the tables' own.
    var refusal: Int64?
    /// The place in the change-set; 0 in files of version 2.
    var ordinal: Int64 = 0
    /// Whether what is stored can't be read. It is left as it is.
    var isDamaged = false

    /// The place in the change-set.
    var place: Int64 { ordinal == 0 ? id : ordinal }

    /// Whether it saves anything else than what was there before.
    ///
    /// - Parameter defaults: What a field without a value stands for.
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
