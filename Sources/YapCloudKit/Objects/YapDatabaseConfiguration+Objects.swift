public import Yap

extension YapDatabaseConfiguration {
    /// Registers `type` for the objects of `collection`, stored in CBOR. Objects that are stored in it or
    /// read from it are immutable. After all extensions were notified of a stored object, its recorded
    /// changes are cleared.
    ///
    /// They are cleared even if the transaction is rolled back later. In that case, read the object again and
    /// change a copy.
    public mutating func register<Object: MyDatabaseObject>(
        _ type: Object.Type, inCollection collection: String
    ) {
        registerObjects(type, collection, version: 1, upgrade: nil)
    }

    /// Registers a class with renamed properties, or with properties of another type than in an earlier
    /// version.
    ///
    /// - Parameters:
    ///   - type: Type of the objects.
    ///   - collection: Collection of the objects.
    ///   - version: The version of the class, from 1. Raise it with each change that `upgrade` is needed for.
    ///   - upgrade: Changes an object that an earlier version stored. Called at each read until the object is stored
    ///     again, as by `upgradeObjects(inCollection:progress:)`.
    public mutating func register<Object: MyDatabaseObject>(
        _ type: Object.Type, inCollection collection: String, version: Int,
        upgrade: @escaping @Sendable (inout YapDatabaseStoredObject) throws -> Void
    ) {
        registerObjects(type, collection, version: version, upgrade: upgrade)
    }

    private mutating func registerObjects<Object: MyDatabaseObject>(
        _ type: Object.Type, _ collection: String, version: Int,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)?
    ) {
        register(
            type, inCollection: collection, default: nil, version: version, upgrade: upgrade,
            decoding: { object in
                object.makeImmutable()
                return object
            })
        preSanitize(type, inCollection: collection) { _, _, object in
            object.makeImmutable()
            return object
        }
        postSanitize(type, inCollection: collection) { _, _, object in object.clearChangedProperties() }
    }
}
