package import Foundation

/// The complete state of a record, as a value. The class only locks it.
package struct RecordState: Sendable {
    package let recordType: String
    package let recordID: CKRecordID
    package var changeTag: String?
    package var creationDate: Date?
    package var modificationDate: Date?
    package var creatorUserRecordID: CKRecordID?
    package var lastModifiedUserRecordID: CKRecordID?
    /// The user that `CKCurrentUserDefaultName` stands for in these two; nil if unknown, as in an archive.
    var userRecordName: String?
    package var parent: CKReference?
    package var isParentChanged = false
    package var share: CKReference?
    package var plain = ValueStore()
    package var encrypted = ValueStore()
    /// The fields' contribution to the zone's checksum, if the fetch of changes requested it.
    package var contentChecksum: UInt64?

    package init(recordType: String, recordID: CKRecordID) {
        self.recordType = recordType
        self.recordID = recordID
    }

    /// The record as the server last sent or saved it, for a conflict's ancestor; nil for a new record.
    var ancestor: RecordState? {
        guard changeTag != nil else { return nil }
        var ancestor = self
        ancestor.plain = plain.ancestor
        ancestor.encrypted = encrypted.ancestor
        ancestor.isParentChanged = false
        return ancestor
    }

    /// Updates the record after the server has saved it.
    /// - Parameters:
    ///   - saved: the response, with the tag, the times and the users.
    ///   - sent: the record as it was sent. Later changes still have to be saved.
    mutating func wasSaved(as saved: RecordState, sent: RecordState) {
        changeTag = saved.changeTag
        creationDate = saved.creationDate
        modificationDate = saved.modificationDate
        creatorUserRecordID = saved.creatorUserRecordID
        lastModifiedUserRecordID = saved.lastModifiedUserRecordID
        userRecordName = saved.userRecordName
        share = saved.share
        isParentChanged = parent != sent.parent
        plain.wasSaved(sent: sent.plain)
        encrypted.wasSaved(sent: sent.encrypted)
    }
}
