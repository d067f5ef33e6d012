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
    package var parent: CKReference?
    package var isParentChanged = false
    package var share: CKReference?
    package var plain = ValueStore()
    package var encrypted = ValueStore()

    package init(recordType: String, recordID: CKRecordID) {
        self.recordType = recordType
        self.recordID = recordID
    }

    /// The record as the server last sent or took it; what a conflict's ancestor is. Nil for one it never saw.
    var ancestor: RecordState? {
        guard changeTag != nil else { return nil }
        var ancestor = self
        ancestor.plain = plain.ancestor
        ancestor.encrypted = encrypted.ancestor
        ancestor.isParentChanged = false
        return ancestor
    }

    /// The server took this record and answered with `tag`, its times and users.
    mutating func wasSaved(as saved: RecordState) {
        changeTag = saved.changeTag
        creationDate = saved.creationDate ?? creationDate
        modificationDate = saved.modificationDate ?? modificationDate
        creatorUserRecordID = saved.creatorUserRecordID ?? creatorUserRecordID
        lastModifiedUserRecordID = saved.lastModifiedUserRecordID ?? lastModifiedUserRecordID
        share = saved.share ?? share
        isParentChanged = false
        plain.wasSaved()
        encrypted.wasSaved()
    }
}
