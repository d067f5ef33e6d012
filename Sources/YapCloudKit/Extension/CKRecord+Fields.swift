package import CloudKit
package import CloudWire
import Foundation

/// The keys under which what is no field of the app lies among the fields.
private enum SystemKey {
    static let parent = "___parent"
    static let created = "created"
    static let modified = "modified"
    static let creator = "creator"
    static let modifier = "modifier"
    static let share = "share"
}

extension CKRecord {
    /// A record as it was stored: no values, no changes.
    convenience init(type: String, recordID: CKRecord.ID, changeTag: String?, system: [UInt8]) throws {
        var state = RecordState(recordType: type, recordID: recordID)
        state.changeTag = changeTag
        let fields = try FieldsBinary.decode(system)
        func value(_ key: String) -> RecordValue? {
            fields[key]?.value.map { RecordValue($0, in: recordID.zoneID) }
        }
        if case .date(let date)? = value(SystemKey.created) { state.creationDate = date }
        if case .date(let date)? = value(SystemKey.modified) { state.modificationDate = date }
        if case .string(let name)? = value(SystemKey.creator) {
            state.creatorUserRecordID = CKRecord.ID(recordName: name)
        }
        if case .string(let name)? = value(SystemKey.modifier) {
            state.lastModifiedUserRecordID = CKRecord.ID(recordName: name)
        }
        if case .reference(let reference)? = value(SystemKey.parent) { state.parent = reference }
        if case .reference(let reference)? = value(SystemKey.share) { state.share = reference }
        self.init(state: state)
    }

    /// What is stored of a record beside its identity, type and tag.
    func systemBytes() throws -> [UInt8] {
        let state = state
        var values: [String: RecordValue] = [:]
        values[SystemKey.created] = state.creationDate.map { .date($0) }
        values[SystemKey.modified] = state.modificationDate.map { .date($0) }
        values[SystemKey.creator] = state.creatorUserRecordID.map { .string($0.recordName) }
        values[SystemKey.modifier] = state.lastModifiedUserRecordID.map { .string($0.recordName) }
        values[SystemKey.parent] = state.parent.map { .reference($0) }
        values[SystemKey.share] = state.share.map { .reference($0) }
        return FieldsBinary.encode(
            try values.mapValues { try $0.wire(isEncrypted: false, in: recordID.zoneID) })
    }

    /// The changed fields; a cleared one has no value.
    /// - Throws: `CKError.invalidArguments` for a value that no field can hold.
    package func changedFields() throws -> [String: Field] {
        let state = state
        var fields: [String: Field] = [:]
        for (store, isEncrypted) in [(state.plain, false), (state.encrypted, true)] {
            for key in store.changedKeys.sorted() {
                fields[key] = try field(store[key], isEncrypted: isEncrypted)
            }
        }
        if state.isParentChanged {
            fields[SystemKey.parent] = try field(state.parent.map { .reference($0) }, isEncrypted: false)
        }
        return fields
    }

    /// All fields that have a value.
    package func allFields() throws -> [String: Field] {
        let state = state
        var fields: [String: Field] = [:]
        for (store, isEncrypted) in [(state.plain, false), (state.encrypted, true)] {
            for key in store.values.keys.sorted() {
                fields[key] = try field(store[key], isEncrypted: isEncrypted)
            }
        }
        return fields
    }

    /// Sets the fields as changes.
    package func setFields(_ fields: [String: Field]) {
        withState { state in
            for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
                let value = field.value.map { RecordValue($0, in: state.recordID.zoneID) }
                if key == SystemKey.parent {
                    if case .reference(let parent)? = value {
                        state.parent = parent
                    } else {
                        state.parent = nil
                    }
                    state.isParentChanged = true
                } else if field.isEncrypted {
                    state.encrypted[key] = value
                } else {
                    state.plain[key] = value
                }
            }
        }
    }

    private func field(_ value: RecordValue?, isEncrypted: Bool) throws -> Field {
        guard let value else { return Field(value: nil, type: nil, isEncrypted: isEncrypted) }
        return try value.wire(isEncrypted: isEncrypted, in: recordID.zoneID)
    }
}

extension Field {
    /// Whether both say the same, whatever type was sent along.
    package func says(_ other: Field?) -> Bool {
        value == other?.value
    }
}
