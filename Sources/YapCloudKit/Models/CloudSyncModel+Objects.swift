public import CloudKit
internal import CloudWire
internal import Yap

extension CloudSyncModel {
    /// Maps the objects of `collection`, of a class with `mappings_localKeyToCloudKey`, to records of a type. The row's
    /// key is the record's name.
    ///
    /// Changes are found by comparing the stored object with the new one, so an object that is stored again after its
    /// transaction was rolled back is synced too.
    ///
    /// - Parameters:
    ///   - type: Type of the objects.
    ///   - recordType: Record type of the model.
    ///   - collection: Collection of the objects.
    ///   - zone: The zone of the records, if it isn't the sync's own.
    public static func model<Object: MyDatabaseObject>(
        _ type: Object.Type, recordType: CKRecord.RecordType, collection: String, zone: String? = nil
    ) -> CloudSyncModel {
        let names = Object().allCloudProperties.sorted()
        return CloudSyncModel(
            recordType: recordType, objectType: Object.self, collection: collection, zoneName: zone,
            fieldNames: names,
            fields: { object in
                guard let object = object as? Object else {
                    throw YapDatabaseCloudKitError.fieldMap(
                        "the collection \"\(collection)\" holds something else than \(Object.self)")
                }
                return try fields(names, of: object)
            },
            defaults: { try fields(names, of: Object()) },
            merge: { _, _, _, _ in nil }, sums: [], files: [:],
            canRead: { name, field in
                guard let value = field.value else { return true }
                guard let cloudValue = value.cloudObject(in: .default) else { return false }
                let object = Object()
                let before = object.cloudValue(forCloudKey: name)
                object.setLocalValue(fromCloudValue: cloudValue, forCloudKey: name)
                if object.hasChangedCloudProperties { return true }
                // Not changed: the value is the default, or the object didn't accept it.
                let after = try? before.map { try Field(cloudValue: $0, in: .default) }
                return after?.says(field) ?? false
            },
            store: { transaction, key, fields in
                let stored = try transaction.object(Object.self, forKey: key, inCollection: collection)
                let object = stored?.copy() ?? Object()
                write(fields, names, to: object)
                if try !transaction.replaceObject(object, forKey: key, inCollection: collection) {
                    try transaction.setObject(object, forKey: key, inCollection: collection)
                }
            },
            insert: { transaction, key, fields in
                let object = Object()
                write(fields, names, to: object)
                try transaction.setObject(object, forKey: key, inCollection: collection)
            })
    }

    private static func write(_ fields: [String: Field], _ names: [String], to object: MyDatabaseObject) {
        for name in names {
            guard let field = fields[name] else { continue }
            let value = field.value?.cloudObject(in: .default)
            // A file that isn't on this device still counts as a value.
            if value == nil, field.value != nil { continue }
            object.setLocalValue(fromCloudValue: value, forCloudKey: name)
        }
    }

    private static func fields(_ names: [String], of object: MyDatabaseObject) throws -> [String: Field] {
        var fields: [String: Field] = [:]
        for name in names {
            let value = object.cloudValue(forCloudKey: name)
            fields[name] = try value.map { try Field(cloudValue: $0, in: .default) } ?? .cleared
        }
        return fields
    }
}
