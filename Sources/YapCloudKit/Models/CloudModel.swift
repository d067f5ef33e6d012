public import CloudKit
internal import CloudWire
public import Yap

/// A type with objects that are records of the cloud.
public protocol CloudModel: YapDatabaseModel {
    /// The record type.
    static var recordType: CKRecord.RecordType { get }
    /// The properties that are fields.
    static var fields: CloudFields<Self> { get }
    /// Creates an object that is filled with the fields of another device's record. Properties that aren't fields keep
    /// the values of this initializer. A struct with defaults for all properties has it already.
    init()
}

/// A model, and the collection of its objects.
public struct CloudSyncModel: Sendable {
    let recordType: CKRecord.RecordType
    let objectType: any Sendable.Type
    let collection: String
    /// The zone of its records; nil is the sync's own zone.
    let zoneName: String?
    let fieldNames: [String]
    /// Returns all fields of an object.
    let fields: @Sendable (_ object: any Sendable) throws -> [String: Field]
    /// Returns all fields of a new object.
    let defaults: @Sendable () throws -> [String: Field]
    /// Merges two changes of a field, for fields with a merge rule.
    let merge:
        @Sendable (_ name: String, _ base: Field?, _ local: Field, _ remote: Field?) throws -> MergedField?
    /// The fields in which two equal changes count twice.
    let sums: Set<String>
    /// The fields with `CloudFile`s, and when their bytes are fetched.
    let files: [String: CloudFile.Fetching]
    /// Whether the model can hold a field's value.
    let canRead: @Sendable (_ name: String, _ field: Field) -> Bool
    /// Writes fields to the row's object, or to a new one.
    let store:
        @Sendable (_ transaction: YapDatabaseReadWriteTransaction, _ key: String, _ fields: [String: Field])
            throws -> Void
    /// Writes fields to a new object of a row that doesn't exist yet.
    let insert:
        @Sendable (_ transaction: YapDatabaseReadWriteTransaction, _ key: String, _ fields: [String: Field])
            throws -> Void
}

extension CloudSyncModel {
    /// Returns the fields that differ between two objects, and their old values.
    func changes(
        from old: any Sendable, to new: any Sendable
    ) throws -> (changed: [String: Field], originals: [String: Field]) {
        let before = try fields(old)
        let changed = try fields(new).filter { !$0.value.says(before[$0.key]) }
        return (changed, before.filter { changed[$0.key] != nil })
    }

    /// Maps the objects of `collection` to records as `type` defines. The row's key is the record's name.
    ///
    /// - Parameters:
    ///   - type: Type of the objects.
    ///   - collection: Collection of the objects.
    ///   - zone: The zone of the records, if it isn't the sync's own. If an earlier version of the app had
    ///     another zone, the records move to this one.
    public static func model<Model: CloudModel>(
        _ type: Model.Type, collection: String, zone: String? = nil
    ) -> CloudSyncModel {
        let map = Model.fields
        return CloudSyncModel(
            recordType: Model.recordType, objectType: Model.self, collection: collection, zoneName: zone,
            fieldNames: map.entries.map(\.name),
            fields: { object in
                guard let object = object as? Model else {
                    throw YapDatabaseCloudKitError.fieldMap(
                        "the collection \"\(collection)\" holds something else than \(Model.self)")
                }
                return try map.fields(of: object)
            },
            defaults: { try map.fields(of: Model()) },
            merge: { name, base, local, remote in
                try map.entries.first { $0.name == name }?.merge?(base, local, remote)
            },
            sums: Set(map.entries.filter(\.isSum).map(\.name)),
            files: map.entries.reduce(into: [:]) { $0[$1.name] = $1.files },
            canRead: { name, field in
                field.value == nil || map.entries.first { $0.name == name }?.canRead(field) ?? false
            },
            store: { transaction, key, fields in
                var object =
                    try transaction.object(Model.self, forKey: key, inCollection: collection) ?? Model()
                let defaults = Model()
                for entry in map.entries {
                    if let field = fields[entry.name] { entry.write(&object, field, defaults) }
                }
                if try !transaction.replaceObject(object, forKey: key, inCollection: collection) {
                    try transaction.setObject(object, forKey: key, inCollection: collection)
                }
            },
            insert: { transaction, key, fields in
                let defaults = Model()
                var object = defaults
                for entry in map.entries {
                    if let field = fields[entry.name] { entry.write(&object, field, defaults) }
                }
                try transaction.setObject(object, forKey: key, inCollection: collection)
            })
    }
}
