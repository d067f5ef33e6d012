public import Foundation
internal import System

/// A record: an ID, a type and fields.
///
/// A fetched or saved record remembers the server's values. So a save sends only the fields that were set since, and a
/// conflict has the common ancestor.
open class CKRecord: NSObject, CKRecordKeyValueSetting, NSSecureCoding, NSCopying, Sequence,
    @unchecked Sendable
{
    // Sendable because all state is one value behind one lock. A subclass must restate it.

    /// The name of a kind of record.
    public typealias RecordType = String
    /// The name of a field.
    public typealias FieldKey = String
    /// A record's ID.
    public typealias ID = CKRecordID
    /// A reference to another record.
    public typealias Reference = CKReference
    /// What happens to a referring record when its target is deleted.
    public typealias ReferenceAction = CKReferenceAction

    /// The system's record types.
    public enum SystemType {
        /// The record of a user.
        public static let userRecord: RecordType = "Users"
        /// A share.
        public static let share: RecordType = "cloudkit.share"
    }

    /// The keys of the system's fields.
    public enum SystemFieldKey {
        /// The record's parent.
        public static let parent: FieldKey = "___parent"
        /// The record's share.
        public static let share: FieldKey = "___share"
        /// The record's ID.
        public static var recordID: FieldKey { "___recordID" }
        /// The user that created the record.
        public static var creatorUserRecordID: FieldKey { "___createdBy" }
        /// The date of its creation.
        public static var creationDate: FieldKey { "___createTime" }
        /// The user that changed it last.
        public static var lastModifiedUserRecordID: FieldKey { "___modifiedBy" }
        /// The date of its last change.
        public static var modificationDate: FieldKey { "___modTime" }
    }

    private let lock: Lock<RecordState>

    /// Makes a new record.
    public convenience init(recordType: RecordType, recordID: ID = ID()) {
        self.init(state: RecordState(recordType: recordType, recordID: recordID))
    }

    /// Makes a record with a random name in `zoneID`.
    @available(*, deprecated, renamed: "init(recordType:recordID:)")
    public convenience init(recordType: RecordType, zoneID: CKRecordZoneID) {
        self.init(recordType: recordType, recordID: ID(zoneID: zoneID))
    }

    package init(state: RecordState) {
        lock = Lock(state)
        super.init()
    }

    /// A snapshot of the record's state.
    package var state: RecordState { lock.withLock { $0 } }

    /// Changes the state under the record's lock.
    package func withState<Result>(_ body: (inout RecordState) throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    // MARK: System fields

    /// The record's type.
    public var recordType: RecordType { lock.withLock { $0.recordType } }
    /// The record's ID.
    public var recordID: ID { lock.withLock { $0.recordID } }
    /// The version on the server, according to this record; nil for a record that was never saved or fetched.
    public var recordChangeTag: String? { lock.withLock { $0.changeTag } }
    /// The date at which the server first saved it.
    public var creationDate: Date? { lock.withLock { $0.creationDate } }
    /// The date at which the server last saved it.
    public var modificationDate: Date? { lock.withLock { $0.modificationDate } }
    /// The user that first saved it.
    public var creatorUserRecordID: ID? { lock.withLock { $0.creatorUserRecordID } }
    /// The user that last saved it.
    public var lastModifiedUserRecordID: ID? { lock.withLock { $0.lastModifiedUserRecordID } }
    /// The share the record belongs to.
    public var share: Reference? { lock.withLock { $0.share } }

    /// The record's parent, with which it is shared. A save that makes a record its own ancestor fails with
    /// `CKError.invalidArguments`.
    public var parent: Reference? {
        get { lock.withLock { $0.parent } }
        set {
            lock.withLock {
                if $0.parent != newValue { $0.isParentChanged = true }
                $0.parent = newValue
            }
        }
    }

    /// Sets the parent; nil removes it.
    public func setParent(_ parentRecord: CKRecord?) {
        setParent(parentRecord?.recordID)
    }

    /// Sets the parent by its ID; nil removes it.
    @_disfavoredOverload
    public func setParent(_ parentRecordID: ID?) {
        parent = parentRecordID.map { Reference(recordID: $0, action: .none) }
    }

    // MARK: Fields

    /// Returns the value of the field `key`, or nil if it has none.
    public func object(forKey key: FieldKey) -> (any CKRecordValueProtocol)? {
        lock.withLock { $0.plain[key] }?.object
    }

    /// Sets the field `key`; nil removes its value, here and at the next save on the server.
    public func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: FieldKey) {
        let value = object.map { RecordFieldValue($0) }
        _ = lock.withLock { $0.plain.replace(key, with: value) }
    }

    /// The value of the field `key` as an object; setting nil removes it.
    @_disfavoredOverload
    public subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { lock.withLock { $0.plain[key] }?.object }
        set { setObject(newValue, forKey: key) }
    }

    /// Returns the value of the field `key`, in the form of key-value coding.
    public func value(forKey key: FieldKey) -> Any? {
        object(forKey: key)
    }

    /// Sets the field `key`, in the form of key-value coding. The save rejects a value that no field can hold.
    public func setValue(_ value: Any?, forKey key: FieldKey) {
        let value = value.map { RecordFieldValue(any: $0) }
        _ = lock.withLock { $0.plain.replace(key, with: value) }
    }

    /// Returns the fields `keys`, in the form of key-value coding: `NSNull` for a field without a value.
    public func dictionaryWithValues(forKeys keys: [FieldKey]) -> [FieldKey: Any] {
        keys.reduce(into: [:]) { $0[$1] = value(forKey: $1) ?? NSNull() }
    }

    /// Sets several fields, in the form of key-value coding; `NSNull` removes a value.
    public func setValuesForKeys(_ keyedValues: [FieldKey: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// Returns the keys of the fields with a value, in ascending order.
    public func allKeys() -> [FieldKey] {
        lock.withLock { $0.plain.values.keys.sorted() }
    }

    /// Returns the keys set since the record was made, fetched or saved, in ascending order.
    public func changedKeys() -> [FieldKey] {
        lock.withLock { $0.plain.changedKeys.sorted() }
    }

    /// Returns the words of the record's text fields, lower-cased, in the order of the fields' keys.
    public func allTokens() -> [String] {
        let values = state.plain.values
        return values.keys.sorted().flatMap { key -> [String] in
            guard case .string(let text)? = values[key] else { return [] }
            return text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    /// The encrypted fields. A key is either here or among the record's own fields.
    public var encryptedValues: any CKRecordKeyValueSetting { EncryptedFields(record: self) }

    /// Iterates over the fields with a value in the order of their keys.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(self)
    }

    /// Returns a copy with the same state.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(state: state)
    }

    /// Type, ID and version, for logs, without field values.
    open override var description: String {
        let state = state
        return
            "<CKRecord: \(state.recordID.recordName), \(state.recordType), tag \(state.changeTag ?? "nil")>"
    }

    // MARK: Archives

    /// Records can be read from archives with secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the whole record to a keyed archive, fields and changes included.
    open func encode(with coder: NSCoder) {
        let state = state
        state.encodeSystemFields(with: coder)
        state.encodeFields(with: coder)
    }

    /// Encodes ID, type, version, times, users, parent and share in a keyed archive, without fields. A record made from
    /// it has no values and no changes.
    open func encodeSystemFields(with coder: NSCoder) {
        state.encodeSystemFields(with: coder)
    }

    /// Reads the result of `encode(with:)` or `encodeSystemFields(with:)`; nil if the archive has no record.
    public required init?(coder: NSCoder) {
        guard let state = RecordState(coder: coder) else { return nil }
        lock = Lock(state)
        super.init()
    }
}

/// The encrypted fields of a record.
final class EncryptedFields: NSObject, CKRecordKeyValueSetting, @unchecked Sendable {
    // Sendable because its only property is a constant of a Sendable class.
    private let record: CKRecord

    init(record: CKRecord) {
        self.record = record
    }

    func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        record.withState { $0.encrypted[key] }?.object
    }

    func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) {
        var value = object.map { RecordFieldValue($0) }
        if value?.canBeEncrypted == false {
            value = .unsupported("an encrypted field can't hold an asset or a reference")
        }
        _ = record.withState { $0.encrypted.replace(key, with: value) }
    }

    @_disfavoredOverload
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { record.withState { $0.encrypted[key] }?.object }
        set { setObject(newValue, forKey: key) }
    }

    func allKeys() -> [CKRecord.FieldKey] { record.state.encrypted.values.keys.sorted() }
    func changedKeys() -> [CKRecord.FieldKey] { record.state.encrypted.changedKeys.sorted() }
}
