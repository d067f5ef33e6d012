package import CloudKit
package import CloudWire
import Foundation

extension CKRecord {
    /// Key of the parent among the fields. The parent isn't a field of the app.
    static let parentKey = "___parent"

    /// Returns the changed fields. A cleared field has no value.
    /// - Throws: `CKError.invalidArguments` for a value that a field can't hold.
    package func changedFields() throws -> [String: Field] {
        try changedFields(hasNewParent: isParentChanged)
    }

    /// Returns the changed fields of a record that was created with `parent` and hasn't received another
    /// parent from the server since.
    ///
    /// Finding out whether the record's parent was set requires reading its archive.
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

    /// Returns all fields that have a value.
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
                // A record can't hold a file that isn't on this device.
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
        // The row of a record that was never saved already has its parent. Setting another value first makes
        // it a change.
        parent = nil
        parent = Reference(reference, in: recordID.zoneID)
    }
}

extension Field {
    /// Returns true if both have the same value, regardless of the type that was sent with it.
    package func says(_ other: Field?) -> Bool {
        value == other?.value
    }
}
