import CloudKit
import Foundation

/// What the device keeps without a network: whole records, and what the cloud knows of them.
struct OfflineShelf {
    /// The record with its fields and what was changed in it.
    func pack(_ record: CKRecord) -> Data {
        NSKeyedArchiver.archivedData(withRootObject: record)
    }

    func unpack(_ data: Data) -> CKRecord? {
        NSKeyedUnarchiver.unarchiveObject(with: data) as? CKRecord
    }

    /// Only what the cloud needs to know it again: its identity and its version.
    func packIdentity(_ record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    func unpackIdentity(_ data: Data) throws -> CKRecord? {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }
}
