package import CloudKit
package import CloudWire
import Foundation

extension CKRecord {
    /// The key under which the parent, which is no field of the app, lies among the fields.
    static let parentKey = "___parent"

    /// The changed fields; a cleared one has no value.
    /// - Throws: `CKError.invalidArguments` for a value that no field can hold.
    package func changedFields() throws -> [String: Field] {
        try changedFields(hasNewParent: isParentChanged)
    }

    /// The changed fields of a record that was handed out with `parent`, and was not told of another since then.
    ///
    /// Asking the record whether its parent was set means to go through its archive.
    func changedFields(handedOutWith parent: Reference?) throws -> [String: Field] {
        try changedFields(hasNewParent: self.parent != parent)
    }

    private func changedFields(hasNewParent: Bool) throws -> [String: Field] {
        var fields: [String: Field] = [:]
        try add(changedKeys(), of: self, isEncrypted: false, to: &fields)
        let encrypted = encryptedValues
        try add(encrypted.changedKeys(), of: encrypted, isEncrypted: true, to: &fields)
        if hasNewParent {
            fields[Self.parentKey] =
                try parent.map { try Field(cloudValue: $0, in: recordID.zoneID) } ?? .cleared
        }
        return fields
    }

    /// All fields that have a value.
    package func allFields() throws -> [String: Field] {
        var fields: [String: Field] = [:]
        try add(allKeys(), of: self, isEncrypted: false, to: &fields)
        let encrypted = encryptedValues
        try add(encrypted.allKeys(), of: encrypted, isEncrypted: true, to: &fields)
        return fields
    }

    private func add(
        _ keys: [String], of store: any CKRecordKeyValueSetting, isEncrypted: Bool,
        to fields: inout [String: Field]
    ) throws {
        for key in keys {
            guard let value = store.object(forKey: key) else {
                fields[key] = Field(value: nil, type: nil, isEncrypted: isEncrypted)
                continue
            }
            fields[key] = try Field(cloudValue: value, isEncrypted: isEncrypted, in: recordID.zoneID)
        }
    }

    /// Sets the fields as changes.
    package func setFields(_ fields: [String: Field]) {
        let encrypted = fields.values.contains(where: \.isEncrypted) ? encryptedValues : nil
        for (key, field) in fields {
            if key == Self.parentKey {
                setParentField(field)
            } else if let value = field.value {
                // A file that isn't on this device can't be handed to a record.
                guard let object = value.cloudObject(in: recordID.zoneID) else { continue }
                if field.isEncrypted {
                    encrypted?.setObject(object, forKey: key)
                } else {
                    setObject(object, forKey: key)
                }
            } else if field.isEncrypted {
                encrypted?.setObject(nil, forKey: key)
            } else {
                setObject(nil, forKey: key)
            }
        }
    }

    private func setParentField(_ field: Field) {
        guard case .reference(let reference)? = field.value else {
            parent = nil
            return
        }
        // The row of a record that was never saved holds its parent already. Another value first makes it a change.
        parent = nil
        parent = Reference(reference, in: recordID.zoneID)
    }
}

extension Field {
    /// Whether both have the same value, regardless of the type that was sent with it.
    package func says(_ other: Field?) -> Bool {
        value == other?.value
    }
}
