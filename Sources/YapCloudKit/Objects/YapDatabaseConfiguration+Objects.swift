public import Yap

extension YapDatabaseConfiguration {
    /// Says that the objects of `collection` are of `type`, stored in CBOR. What is stored there or read from there is
    /// immutable, and once all extensions were told of an object that was stored, its changes are forgotten.
    ///
    /// They are forgotten also when the transaction is rolled back later: read the object again and change a copy.
    public mutating func register<Object: MyDatabaseObject>(
        _ type: Object.Type, inCollection collection: String
    ) {
        let serializer = YapDatabaseSerializer<Object>.cbor().decoding { object in
            object.makeImmutable()
            return object
        }
        register(type, serializer: serializer, inCollection: collection)
        preSanitize(type, inCollection: collection) { _, _, object in
            object.makeImmutable()
            return object
        }
        postSanitize(type, inCollection: collection) { _, _, object in object.clearChangedProperties() }
    }
}
