public import CloudKit
internal import CloudWire
public import Yap

/// A type whose objects are records of the cloud.
public protocol CloudModel: YapDatabaseModel {
    /// The record type.
    static var recordType: CKRecord.RecordType { get }
    /// Which properties are fields.
    static var fields: CloudFields<Self> { get }
    /// An object to fill with the fields of a record that another device made. What is no field keeps what it
    /// has here. A struct whose properties all have a default has this already.
    init()
}

/// A model and the collection that its objects are in.
public struct CloudSyncModel: Sendable {
    let recordType: CKRecord.RecordType
    let objectType: any Sendable.Type
    let collection: String
    /// The zone that its records are in; nil is the sync's own.
    let zoneName: String?
    let fieldNames: [String]
    /// All fields of an object.
    let fields: @Sendable (_ object: any Sendable) throws -> [String: Field]
    /// All fields of a new object.
    let defaults: @Sendable () throws -> [String: Field]
    /// How a field's two changes become one value, for fields that have such a rule.
    let merge:
        @Sendable (_ name: String, _ base: Field?, _ local: Field, _ remote: Field?) throws -> MergedField?
    /// The fields of which two equal changes are two.
    let sums: Set<String>
    /// The fields that hold `CloudFile`s, and when their bytes are fetched.
    let files: [String: CloudFile.Fetching]
    /// Whether a field's value is one that the model can hold.
    let canRead: @Sendable (_ name: String, _ field: Field) -> Bool
    /// Writes fields into the row's object, or into a new one.
    let store:
        @Sendable (_ transaction: YapDatabaseReadWriteTransaction, _ key: String, _ fields: [String: Field])
            throws -> Void
    /// Writes fields into a new object, of a row that isn't there.
    let insert:
        @Sendable (_ transaction: YapDatabaseReadWriteTransaction, _ key: String, _ fields: [String: Field])
            throws -> Void
}

extension CloudSyncModel {
    /// The changed fields between two objects, and what they were.
    func changes(
        from old: any Sendable, to new: any Sendable
    ) throws -> (changed: [String: Field], originals: [String: Field]) {
        let before = try fields(old)
        let changed = try fields(new).filter { !$0.value.says(before[$0.key]) }
        return (changed, before.filter { changed[$0.key] != nil })
    }

    /// Says that the objects of `collection` are records as `type` says; the row's key is the record's name.
    ///
    /// - Parameter zone: The zone of these records, when it isn't the sync's own. With another zone than in an earlier
    ///   version of the app, the records move there.
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
