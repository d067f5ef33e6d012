public import Foundation
internal import System

/// A record of the cloud: an identity, a type and fields.
///
/// A record fetched or saved remembers what the server last had, so that a save sends only the fields set
/// since, and a conflict can show the common ancestor.
open class CKRecord: NSObject, CKRecordKeyValueSetting, NSSecureCoding, NSCopying, Sequence,
    @unchecked Sendable
{
    // Sendable because all state is one value behind one lock; a subclass has to restate it.

    /// The name of a kind of record.
    public typealias RecordType = String
    /// The name of a field.
    public typealias FieldKey = String
    /// A record's identity.
    public typealias ID = CKRecordID
    /// A value that points at another record.
    public typealias Reference = CKReference
    /// What happens to a referring record when its target is deleted.
    public typealias ReferenceAction = CKReferenceAction

    /// The types of records that the system itself keeps.
    public enum SystemType {
        /// The record of a user.
        public static let userRecord: RecordType = "Users"
        /// A share.
        public static let share: RecordType = "cloudkit.share"
    }

    /// The keys of the fields that the system itself keeps.
    public enum SystemFieldKey {
        /// The record's parent.
        public static let parent: FieldKey = "___parent"
        /// The record's share.
        public static let share: FieldKey = "___share"
        /// The record's identity.
        public static var recordID: FieldKey { "___recordID" }
        /// Who created the record.
        public static var creatorUserRecordID: FieldKey { "___createdBy" }
        /// When it was created.
        public static var creationDate: FieldKey { "___createTime" }
        /// Who changed it last.
        public static var lastModifiedUserRecordID: FieldKey { "___modifiedBy" }
        /// When it was changed last.
        public static var modificationDate: FieldKey { "___modTime" }
    }

    private let lock: Lock<RecordState>

    /// Makes a record that the server doesn't know yet.
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

    /// The record's state at this moment.
    package var state: RecordState { lock.withLock { $0 } }

    /// Changes the state under the record's lock.
    package func withState<Result>(_ body: (inout RecordState) throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    // MARK: System fields

    /// The record's type.
    public var recordType: RecordType { lock.withLock { $0.recordType } }
    /// The record's identity.
    public var recordID: ID { lock.withLock { $0.recordID } }
    /// The version that the server last sent or took; nil for a record it never saw.
    public var recordChangeTag: String? { lock.withLock { $0.changeTag } }
    /// When the server first saved it.
    public var creationDate: Date? { lock.withLock { $0.creationDate } }
    /// When the server last saved it.
    public var modificationDate: Date? { lock.withLock { $0.modificationDate } }
    /// Whose device first saved it.
    public var creatorUserRecordID: ID? { lock.withLock { $0.creatorUserRecordID } }
    /// Whose device last saved it.
    public var lastModifiedUserRecordID: ID? { lock.withLock { $0.lastModifiedUserRecordID } }
    /// The share the record belongs to.
    public var share: Reference? { lock.withLock { $0.share } }

    /// The record that this one hangs from when it is shared. A save that makes a record its own ancestor fails with
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

    /// Hangs this record from `parentRecord`, or from none.
    public func setParent(_ parentRecord: CKRecord?) {
        setParent(parentRecord?.recordID)
    }

    /// Hangs this record from the one with `parentRecordID`, or from none.
    @_disfavoredOverload
    public func setParent(_ parentRecordID: ID?) {
        parent = parentRecordID.map { Reference(recordID: $0, action: .none) }
    }

    // MARK: Fields

    /// The value of the field `key`; nil when it has none.
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

    /// The value of the field `key`, as key-value coding names it on Apple's platforms.
    public func value(forKey key: FieldKey) -> Any? {
        object(forKey: key)
    }

    /// Sets the field `key`, as key-value coding names it on Apple's platforms. A value that no field can
    /// hold is refused by the save.
    public func setValue(_ value: Any?, forKey key: FieldKey) {
        let value = value.map { RecordFieldValue(any: $0) }
        _ = lock.withLock { $0.plain.replace(key, with: value) }
    }

    /// The fields `keys` as an object for each, as key-value coding names it on Apple's platforms: `NSNull` for a field
    /// without a value.
    public func dictionaryWithValues(forKeys keys: [FieldKey]) -> [FieldKey: Any] {
        keys.reduce(into: [:]) { $0[$1] = value(forKey: $1) ?? NSNull() }
    }

    /// Sets each of the fields, as key-value coding names it on Apple's platforms; `NSNull` removes its value.
    public func setValuesForKeys(_ keyedValues: [FieldKey: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The keys of the fields with a value, in ascending order.
    public func allKeys() -> [FieldKey] {
        lock.withLock { $0.plain.values.keys.sorted() }
    }

    /// The keys set since the record was made, fetched or saved, in ascending order.
    public func changedKeys() -> [FieldKey] {
        lock.withLock { $0.plain.changedKeys.sorted() }
    }

    /// The words of the record's text fields, lower-cased, in the order of the fields' keys.
    public func allTokens() -> [String] {
        let values = state.plain.values
        return values.keys.sorted().flatMap { key -> [String] in
            guard case .string(let text)? = values[key] else { return [] }
            return text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    /// The fields that are marked as encrypted. A key is either here or among the record's own fields.
    public var encryptedValues: any CKRecordKeyValueSetting { EncryptedFields(record: self) }

    /// Walks the fields with a value in the order of their keys.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(self)
    }

    /// A record of its own with the same state.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(state: state)
    }

    /// Type, identity and version, for logs; no field's value.
    open override var description: String {
        let state = state
        return
            "<CKRecord: \(state.recordID.recordName), \(state.recordType), tag \(state.changeTag ?? "nil")>"
    }

    // MARK: Archives

    /// Records can be read from archives that name the classes they expect.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the whole record to a keyed archive, fields and changes included.
    open func encode(with coder: NSCoder) {
        let state = state
        state.encodeSystemFields(with: coder)
        state.encodeFields(with: coder)
    }

    /// Writes identity, type, version, times, users, parent and share to a keyed archive, and no field. A
    /// record made from it has no values and no changes.
    open func encodeSystemFields(with coder: NSCoder) {
        state.encodeSystemFields(with: coder)
    }

    /// Reads a record that `encode(with:)` or `encodeSystemFields(with:)` wrote; nil when the archive holds
    /// none.
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
