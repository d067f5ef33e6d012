import Foundation

// The keys of Apple's own archives, so that archives made there can be read here. Other apps' databases
// contain Apple's class names and key names.
private enum Key {
    static let recordType = "RecordType", recordID = "RecordID", changeTag = "ETag"
    static let creationDate = "RecordCtime", modificationDate = "RecordMtime"
    static let creator = "CreatorUserRecordID", lastModifier = "LastModifiedUserRecordID"
    static let parent = "ParentReference", isParentChanged = "HasUpdatedParentReference"
    static let share = "ShareReference"
    static let plain = "ValueStore", encrypted = "EncryptedValueStore"
}

extension RecordState {
    func encodeSystemFields(with coder: NSCoder) {
        coder.encode(recordType as NSString, forKey: Key.recordType)
        coder.encode(recordID, forKey: Key.recordID)
        if let changeTag { coder.encode(changeTag as NSString, forKey: Key.changeTag) }
        if let creationDate { coder.encode(creationDate as NSDate, forKey: Key.creationDate) }
        if let modificationDate { coder.encode(modificationDate as NSDate, forKey: Key.modificationDate) }
        if let creatorUserRecordID { coder.encode(creatorUserRecordID, forKey: Key.creator) }
        if let lastModifiedUserRecordID { coder.encode(lastModifiedUserRecordID, forKey: Key.lastModifier) }
        if let parent { coder.encode(parent, forKey: Key.parent) }
        if isParentChanged { coder.encode(true, forKey: Key.isParentChanged) }
        if let share { coder.encode(share, forKey: Key.share) }
    }

    func encodeFields(with coder: NSCoder) {
        coder.encode(CKRecordValueStore(plain), forKey: Key.plain)
        coder.encode(CKEncryptedRecordValueStore(encrypted), forKey: Key.encrypted)
    }

    init?(coder: NSCoder) {
        guard let recordType = coder.string(forKey: Key.recordType),
            let recordID = coder.object(CKRecordID.self, forKey: Key.recordID)
        else { return nil }
        self.init(recordType: recordType, recordID: recordID)
        changeTag = coder.string(forKey: Key.changeTag)
        creationDate = coder.date(forKey: Key.creationDate)
        modificationDate = coder.date(forKey: Key.modificationDate)
        creatorUserRecordID = coder.object(CKRecordID.self, forKey: Key.creator)
        lastModifiedUserRecordID = coder.object(CKRecordID.self, forKey: Key.lastModifier)
        parent = coder.object(CKReference.self, forKey: Key.parent)
        // Apple's archives have the key in any case.
        isParentChanged =
            coder.containsValue(forKey: Key.isParentChanged) && coder.decodeBool(forKey: Key.isParentChanged)
        share = coder.object(CKReference.self, forKey: Key.share)
        plain = coder.object(CKRecordValueStore.self, forKey: Key.plain)?.values ?? ValueStore()
        encrypted =
            coder.object(CKEncryptedRecordValueStore.self, forKey: Key.encrypted)?.values ?? ValueStore()
    }
}
