import CoreLocation
import Foundation

/// A record's fields in an archive.
class CKRecordValueStore: NSObject, NSSecureCoding {
    let values: ValueStore

    required init(_ values: ValueStore) {
        self.values = values
    }

    class var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(Self.dictionary(values.values), forKey: "RecordValues")
        coder.encode(Self.dictionary(values.originals), forKey: "OriginalValues")
        coder.encode(SortedSet.of(values.changedKeys), forKey: "ChangedKeys")
    }

    required init?(coder: NSCoder) {
        let changedKeys = coder.object(NSSet.self, forKey: "ChangedKeys")
        values = ValueStore(
            values: Self.fields("RecordValues", in: coder),
            originals: Self.fields("OriginalValues", in: coder),
            changedKeys: Set((changedKeys?.allObjects ?? []).compactMap { $0 as? String }))
    }

    private static func dictionary(_ fields: [String: RecordFieldValue]) -> NSDictionary {
        SortedDictionary.of(fields.mapValues { $0.object as Any })
    }

    private static func fields(_ name: String, in coder: NSCoder) -> [String: RecordFieldValue] {
        guard let dictionary = coder.object(forKey: name) as? NSDictionary else {
            return [:]
        }
        var fields: [String: RecordFieldValue] = [:]
        for (key, value) in dictionary {
            if let key = key as? String { fields[key] = RecordFieldValue(any: value) }
        }
        return fields
    }
}

/// A record's encrypted fields in an archive.
final class CKEncryptedRecordValueStore: CKRecordValueStore {}
