internal import CloudKit
internal import CloudWire
import Foundation

/// How a record's system fields lie in the tables, beside its identity, type and tag, which have columns of their own:
/// in the binary form of fields, under short names.
///
/// The framework hands them out and takes them back as an archive. The coders here are its two ends; they know the
/// archive's keys, which are as fixed as any archive's, and keep what has another key under that key. On Apple's
/// platforms the archive itself is kept.
enum SystemFields {
    /// The keys of the archive whose values have columns.
    static let recordType = "RecordType", recordID = "RecordID", changeTag = "ETag"
    /// Says that the parent is not yet the server's. The queue knows that.
    static let isParentChanged = "HasUpdatedParentReference"

    /// The names that some of the archive's keys have in the tables.
    static let storedNames = [
        "RecordCtime": "created", "RecordMtime": "modified", "CreatorUserRecordID": "creator",
        "LastModifiedUserRecordID": "modifier", "ParentReference": CKRecord.parentKey,
        "ShareReference": "share",
    ]

    /// The archive's keys of dates.
    static let dates: Set<String> = ["RecordCtime", "RecordMtime"]

    /// The archive's keys under which a record's identity lies, and not a reference to it.
    static let identities: Set<String> = ["CreatorUserRecordID", "LastModifiedUserRecordID"]
}

extension CKRecord {
    /// What is stored of a record beside its identity, type and tag.
    /// - Throws: `YapDatabaseCloudKitError.damaged` for a system field that can't be kept.
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

    /// A record as it was stored: no values, no changes.
    static func restored(
        type: String, recordID: CKRecord.ID, changeTag: String?, system: [UInt8]
    ) throws -> CKRecord {
        #if canImport(Darwin)
            // A record whose tag was forgotten is a new one, and its tag stands in the archive too.
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

    /// Whether the parent was set since the record came from the server.
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
