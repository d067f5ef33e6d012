public import Foundation

/// A set of fields by key: a record's own, or its encrypted ones.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// Returns the value of the field `key`, or nil if it has none.
    func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)?
    /// Sets the field `key`; nil removes its value.
    func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey)
    /// Returns the keys of the fields with a value, in ascending order.
    func allKeys() -> [CKRecord.FieldKey]
    /// Returns the keys set since the record was made, fetched or saved, in ascending order.
    func changedKeys() -> [CKRecord.FieldKey]
    /// The value of the field `key` as an object.
    @_disfavoredOverload subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }
}

extension CKRecordKeyValueSetting {
    /// The value of the field `key` as a `Value`; nil if it has none or another type.
    public subscript<Value: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> Value? {
        get { object(forKey: key) as? Value }
        set { set(newValue.map { RecordFieldValue($0) }, forKey: key) }
    }

    /// The value of the field `key`; nil if it has none. Setting nil removes it.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) }
        set { set(newValue.map { RecordFieldValue($0) }, forKey: key) }
    }

    private func set(_ value: RecordFieldValue?, forKey key: CKRecord.FieldKey) {
        // Only for CKRecord itself: a subclass may override the setter, which needs the object.
        if type(of: self) == CKRecord.self, let record = self as? CKRecord {
            _ = record.withState { $0.plain.replace(key, with: value) }
        } else {
            setObject(value?.object, forKey: key)
        }
    }
}

/// Iterates over a record's fields in the order of their keys.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    private var pairs: IndexingIterator<[(CKRecord.FieldKey, any CKRecordValueProtocol)]>

    init(_ fields: any CKRecordKeyValueSetting) {
        pairs = fields.allKeys()
            .compactMap { key in fields.object(forKey: key).map { (key, $0 as any CKRecordValueProtocol) } }
            .makeIterator()
    }

    /// Returns the next field, or nil after the last.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        pairs.next()
    }
}
