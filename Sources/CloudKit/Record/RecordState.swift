package import Foundation

/// Everything a record is, as one value: the class around it only locks it.
package struct RecordState: Sendable {
    package let recordType: String
    package let recordID: CKRecordID
    package var changeTag: String?
    package var creationDate: Date?
    package var modificationDate: Date?
    package var creatorUserRecordID: CKRecordID?
    package var lastModifiedUserRecordID: CKRecordID?
    /// Whom `CKCurrentUserDefaultName` means in these two; nil where nobody said so, as in an archive.
    var userRecordName: String?
    package var parent: CKReference?
    package var isParentChanged = false
    package var share: CKReference?
    package var plain = ValueStore()
    package var encrypted = ValueStore()
    /// What the fields add to the zone's checksum, when the fetch of the zone's changes asked for it.
    package var contentChecksum: UInt64?

    package init(recordType: String, recordID: CKRecordID) {
        self.recordType = recordType
        self.recordID = recordID
    }

    /// The record as the server last sent or took it; what a conflict's ancestor is. Nil for one it never
    /// saw.
    var ancestor: RecordState? {
        guard changeTag != nil else { return nil }
        var ancestor = self
        ancestor.plain = plain.ancestor
        ancestor.encrypted = encrypted.ancestor
        ancestor.isParentChanged = false
        return ancestor
    }

    /// The server took the record as it was when it was `sent`, and answered with `saved`: tag, times and
    /// users are the answer's, and what was set since is still to be saved.
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
