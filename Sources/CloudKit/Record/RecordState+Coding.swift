import CoreLocation
import Foundation

// The keys of Apple's own archives, so that a blob made there is read here: cloudkit's class names and key
// names are what other apps' databases hold.
private enum Key {
    static let recordType = "RecordType", recordID = "RecordID", changeTag = "ETag"
    static let creationDate = "RecordCtime", modificationDate = "RecordMtime"
    static let creator = "CreatorUserRecordID", lastModifier = "LastModifiedUserRecordID"
    static let parent = "ParentReference", isParentChanged = "HasUpdatedParentReference"
    static let share = "ShareReference"
    static let plain = "Fields", encrypted = "EncryptedFields"
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
        plain.encode(with: coder, prefix: Key.plain)
        encrypted.encode(with: coder, prefix: Key.encrypted)
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
        isParentChanged = coder.containsValue(forKey: Key.isParentChanged)
        share = coder.object(CKReference.self, forKey: Key.share)
        plain = ValueStore(coder: coder, prefix: Key.plain)
        encrypted = ValueStore(coder: coder, prefix: Key.encrypted)
    }
}

extension ValueStore {
    private static let valueClasses: [AnyClass] = [
        CKReference.self, CLLocation.self, CKAsset.self, UnsupportedRecordValue.self,
    ]

    // Parallel arrays in the order of the keys: a dictionary's order differs from run to run.
    fileprivate func encode(with coder: NSCoder, prefix: String) {
        func encode(_ fields: [String: RecordValue], _ name: String) {
            guard !fields.isEmpty else { return }
            let keys = fields.keys.sorted()
            coder.encode(keys as NSArray, forKey: prefix + name + "Keys")
            coder.encode(
                NSArray(array: keys.compactMap { fields[$0]?.object }), forKey: prefix + name + "Values")
        }
        encode(values, "Current")
        encode(originals, "Original")
        if !changedKeys.isEmpty {
            coder.encode(changedKeys.sorted() as NSArray, forKey: prefix + "ChangedKeys")
        }
    }

    fileprivate init(coder: NSCoder, prefix: String) {
        func array(_ name: String) -> [Any] {
            let object = coder.object(ofAny: Self.valueClasses, forKey: prefix + name)
            return (object as? NSArray).map { Array($0) } ?? []
        }
        func fields(_ name: String) -> [String: RecordValue] {
            let keys = array(name + "Keys").compactMap { $0 as? String }
            let values = array(name + "Values").map { RecordValue(any: $0) }
            guard keys.count == values.count else { return [:] }
            return Dictionary(
                zip(keys, values), uniquingKeysWith: { first, _ in first })
        }
        self.init(
            values: fields("Current"), originals: fields("Original"),
            changedKeys: Set(array("ChangedKeys").compactMap { $0 as? String }))
    }
}
