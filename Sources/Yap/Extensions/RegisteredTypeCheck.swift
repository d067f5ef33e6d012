extension YapDatabaseReadTransaction {
    /// Checks that a collection is registered with the type of an extension's objects: rows of another type could not
    /// be handed to it.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`.
    final func checkType<Object>(_ type: Object.Type, of collection: String, for name: String) throws {
        let registered = try store.registered(collection).registration.object
        guard registered.typeID == ObjectIdentifier(Object.self) else {
            throw YapDatabaseError(
                .typeMismatch,
                "the extension \"\(name)\" is of \(Object.self), the registered type is \(registered.typeName)",
                collection: collection)
        }
    }

    /// Checks that the metadata of a collection is registered with a type that an extension reads.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`.
    final func checkMetadataType(_ type: any Sendable.Type, of collection: String, for name: String) throws {
        let registered = try metadataCoder(store.registered(collection))
        guard registered.typeID == ObjectIdentifier(type) else {
            throw YapDatabaseError(
                .typeMismatch,
                "the extension \"\(name)\" reads metadata of \(type), the registered type is \(registered.typeName)",
                collection: collection)
        }
    }
}
