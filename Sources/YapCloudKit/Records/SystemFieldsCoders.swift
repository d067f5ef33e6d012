internal import CloudKit
internal import CloudWire
import Foundation

/// Receives the output of `CKRecord.encodeSystemFields(with:)`. An encoder is used once, by one thread.
final class SystemFieldsEncoder: NSCoder {
    /// The encoding of no fields, for a record that was never on the server.
    static let none = FieldsBinary.encode([:])

    private(set) var fields: [String: Field] = [:]
    private(set) var isParentChanged = false
    /// The reason that the record can't be stored, or nil.
    private(set) var problem: String?
    /// The record's zone, which references within the zone omit. Nil to store only `isParentChanged`.
    private let zoneID: CKRecordZone.ID?

    init(zoneID: CKRecordZone.ID?) {
        self.zoneID = zoneID
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    override func encode(_ object: Any?, forKey key: String) {
        guard let object, let zoneID else { return }
        switch key {
        case SystemFields.recordType, SystemFields.recordID, SystemFields.changeTag: return
        default: break
        }
        // The key is checked first, because a cast that fails is slow.
        if SystemFields.dates.contains(key), let date = object as? NSDate {
            return keep((date as Date).wholeMilliseconds.map { .timestamp(milliseconds: $0) }, key)
        }
        switch object {
        case let id as CKRecord.ID where id.zoneID == .default: keep(.string(id.recordName), key)
        case let id as CKRecord.ID:
            keep(.reference(Reference(CKRecord.Reference(recordID: id, action: .none), in: zoneID)), key)
        case let reference as CKRecord.Reference: keep(.reference(Reference(reference, in: zoneID)), key)
        default:
            do throws(CKError) {
                keep(try FieldValue(object, isEncrypted: false, in: zoneID), key)
            } catch {
                problem = "the system field \(key) of a record: \(error.localizedDescription)"
            }
        }
    }

    override func encode(_ value: Bool, forKey key: String) {
        if key == SystemFields.isParentChanged {
            isParentChanged = value
        } else {
            keep(.int64(value ? 1 : 0), key)
        }
    }

    override func encode(_ value: Int, forKey key: String) { keep(.int64(Int64(value)), key) }
    override func encode(_ value: Int32, forKey key: String) { keep(.int64(Int64(value)), key) }
    override func encode(_ value: Int64, forKey key: String) { keep(.int64(value), key) }
    override func encode(_ value: Double, forKey key: String) { keep(.double(value), key) }
    override func encode(_ value: Float, forKey key: String) { keep(.double(Double(value)), key) }

    private func keep(_ value: FieldValue?, _ key: String) {
        guard zoneID != nil else { return }
        guard let value else {
            problem = "the system field \(key) of a record: the date is further away than a field can hold"
            return
        }
        fields[SystemFields.storedNames[key] ?? key] = Field(value)
    }
}

/// Provides the stored values to `CKRecord(coder:)`. A decoder is used once, by one thread.
final class SystemFieldsDecoder: NSCoder {
    private let recordType: String
    private let recordID: CKRecord.ID
    private let changeTag: String?
    private let fields: [String: Field]

    init(recordType: String, recordID: CKRecord.ID, changeTag: String?, fields: [String: Field]) {
        self.recordType = recordType
        self.recordID = recordID
        self.changeTag = changeTag
        self.fields = fields
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    override func containsValue(forKey key: String) -> Bool {
        switch key {
        case SystemFields.recordType, SystemFields.recordID: true
        case SystemFields.changeTag: changeTag != nil
        default: value(key) != nil
        }
    }

    private func value(_ key: String) -> FieldValue? {
        fields.isEmpty ? nil : fields[SystemFields.storedNames[key] ?? key]?.value
    }

    override func decodeObject(forKey key: String) -> Any? {
        switch key {
        case SystemFields.recordType: return recordType as NSString
        case SystemFields.recordID: return recordID
        case SystemFields.changeTag: return changeTag.map { $0 as NSString }
        default: break
        }
        guard SystemFields.identities.contains(key) else {
            return value(key)?.cloudObject(in: recordID.zoneID)
        }
        switch value(key) {
        case .string(let recordName): return CKRecord.ID(recordName: recordName)
        case .reference(let target): return CKRecord.Reference(target, in: recordID.zoneID).recordID
        default: return nil
        }
    }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        guard let object = decodeObject(forKey: key) as? NSObject else { return nil }
        guard let classes else { return object }
        return classes.contains { object.isKind(of: $0) } ? object : nil
    }

    override func decodeBool(forKey key: String) -> Bool { decodeInt64(forKey: key) != 0 }
    override func decodeInteger(forKey key: String) -> Int { Int(decodeInt64(forKey: key)) }
    override func decodeInt32(forKey key: String) -> Int32 { Int32(clamping: decodeInt64(forKey: key)) }
    override func decodeFloat(forKey key: String) -> Float { Float(decodeDouble(forKey: key)) }

    override func decodeInt64(forKey key: String) -> Int64 {
        guard case .int64(let number)? = value(key) else { return 0 }
        return number
    }

    override func decodeDouble(forKey key: String) -> Double {
        guard case .double(let number)? = value(key) else { return 0 }
        return number
    }
}
