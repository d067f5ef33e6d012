extension YapDatabaseReadTransaction {
    /// Checks that a collection is registered with the types of the objects and metadata that an extension reads.
    ///
    /// - Parameter metadata: The types of the metadata. Nil for a part of the extension that reads none.
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`.
    final func checkTypes<Object>(
        _ type: Object.Type, metadata: [(any Sendable.Type)?] = [], of collection: String, for name: String
    ) throws {
        let registered = try store.registered(collection)
        let coder = registered.registration.object
        guard coder.typeID == ObjectIdentifier(Object.self) else {
            throw YapDatabaseError(
                .typeMismatch,
                "the extension \"\(name)\" is of \(Object.self), the registered type is \(coder.typeName)",
                collection: collection)
        }
        for case let type? in metadata {
            let coder = try metadataCoder(registered)
            guard coder.typeID != ObjectIdentifier(type) else { continue }
            throw YapDatabaseError(
                .typeMismatch,
                "the extension \"\(name)\" reads metadata of \(type), the registered type is \(coder.typeName)",
                collection: collection)
        }
    }
}

/// Casts a row's object to the type of an extension's objects.
///
/// - Throws: `YapDatabaseError`: `typeMismatch`.
func extensionObject<Object>(
    _ object: any Sendable, as type: Object.Type, for name: String, of collection: String, key: String? = nil
) throws -> Object {
    guard let typed = object as? Object else {
        throw YapDatabaseError(
            .typeMismatch,
            "the extension \"\(name)\" is of \(type), the object is a \(Swift.type(of: object))",
            collection: collection, key: key)
    }
    return typed
}
