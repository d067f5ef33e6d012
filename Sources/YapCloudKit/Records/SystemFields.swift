internal import CloudKit
internal import CloudWire
import Foundation

/// The stored form of a record's system fields: the binary form of fields, with short names. The record's
/// identity, type and tag aren't included, because they have their own columns.
///
/// The framework exports and imports system fields as an archive. The encoder and the decoder here use the
/// archive's keys, which are stable, and store values with unknown keys under the same keys. On Apple's
/// platforms the archive itself is stored.
enum SystemFields {
    /// Keys of the archive for values with their own columns.
    static let recordType = "RecordType", recordID = "RecordID", changeTag = "ETag"
    /// Key for a parent that the server doesn't have yet. The queue stores that instead.
    static let isParentChanged = "HasUpdatedParentReference"

    /// Names in the tables of some of the archive's keys.
    static let storedNames = [
        "RecordCtime": "created", "RecordMtime": "modified", "CreatorUserRecordID": "creator",
        "LastModifiedUserRecordID": "modifier", "ParentReference": CKRecord.parentKey,
        "ShareReference": "share",
    ]

    /// Keys of dates in the archive.
    static let dates: Set<String> = ["RecordCtime", "RecordMtime"]

    /// Keys in the archive for record IDs that aren't references.
    static let identities: Set<String> = ["CreatorUserRecordID", "LastModifiedUserRecordID"]
}

extension CKRecord {
    /// Encodes a record's system fields for storage, without its identity, type and tag.
    /// - Throws: `YapDatabaseCloudKitError.damaged` for a system field that can't be stored.
    func systemBytes() throws -> [UInt8] {
        #if canImport(Darwin)
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            encodeSystemFields(with: archiver)
            return [UInt8](archiver.encodedData)
        #else
            let coder = SystemFieldsEncoder(zoneID: recordID.zoneID)
            encodeSystemFields(with: coder)
            if let problem = coder.problem { throw YapDatabaseCloudKitError.damaged(problem) }
            return coder.fields.isEmpty ? SystemFieldsEncoder.none : FieldsBinary.encode(coder.fields)
        #endif
    }

    /// Creates a record from its stored system fields, without values and changes.
    static func restored(
        type: String, recordID: CKRecord.ID, changeTag: String?, system: [UInt8]
    ) throws -> CKRecord {
        #if canImport(Darwin)
            // A record without a tag is a new one, but its archive still contains the old tag.
            if changeTag == nil { return CKRecord(recordType: type, recordID: recordID) }
            let coder = try NSKeyedUnarchiver(forReadingFrom: Data(system))
        #else
            if changeTag == nil, system == SystemFieldsEncoder.none {
                return CKRecord(recordType: type, recordID: recordID)
            }
            let coder = SystemFieldsDecoder(
                recordType: type, recordID: recordID, changeTag: changeTag,
                fields: try FieldsBinary.decode(system))
        #endif
        guard let record = CKRecord(coder: coder) else {
            throw YapDatabaseCloudKitError.damaged("the system fields of \(recordID)")
        }
        return record
    }

    /// True if the parent was set since the record was received from the server.
    var isParentChanged: Bool {
        #if canImport(Darwin)
            return parent != nil
        #else
            let coder = SystemFieldsEncoder(zoneID: nil)
            encodeSystemFields(with: coder)
            return coder.isParentChanged
        #endif
    }
}
