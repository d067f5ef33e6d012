import SQLite

/// Iteration over the rows of a collection, ordered by the bytes of their keys.
///
/// The sequences are lazy: they read a row when it is requested. Rows may be changed during the iteration; later rows
/// are then returned with their new values. When rows are *added* to or *removed* from the collection, or a row can't
/// be read, the iteration ends, and the enclosing `read` or `readWrite` throws. A sequence can't be used outside its
/// transaction.
///
/// ```swift
/// for (key, todo) in try transaction.objects(Todo.self, inCollection: "todos") { print(key, todo.title) }
/// ```
extension YapDatabaseReadTransaction {
    /// Returns the keys of a collection.
    public final func keys(inCollection collection: String) throws -> YapDatabaseRows<String> {
        try begin(collection)
        return YapDatabaseRows(self, .key, collection) { $0.text(at: 0) }
    }

    /// Returns the rowids and keys of a collection.
    public final func identities(inCollection collection: String) throws -> YapDatabaseRows<
        YapDatabaseRowIdentity
    > {
        try begin(collection)
        return YapDatabaseRows(self, .identity, collection) {
            YapDatabaseRowIdentity(rowID: $0.int64(at: 1), collection: collection, key: $0.text(at: 0))
        }
    }

    /// Returns the keys and objects of a collection.
    ///
    /// - Parameters:
    ///   - type: The registered type of the objects, or a protocol that it conforms to.
    ///   - collection: The collection.
    ///   - filter: Returns whether to include the row with a key. Called before the object is decoded.
    /// - Throws: `YapDatabaseError`: `missingRegistration` or `typeMismatch`.
    public final func objects<Object: Sendable>(
        _ type: Object.Type, inCollection collection: String,
        where filter: @escaping (String) -> Bool = { _ in true }
    ) throws -> YapDatabaseRows<(key: String, object: Object)> {
        try begin(collection)
        let registered = try store.registered(collection)
        return YapDatabaseRows(self, .keyAndObject, collection) { [unowned self] statement in
            let key = statement.text(at: 0)
            guard filter(key) else { return nil }
            let box = try objectBox(key, registered, statement)
            return (key, try box.value(as: type, registered.registration.object, key, collection))
        }
    }

    /// Returns the keys and metadata of a collection, without reading the objects. Parameters and errors: see
    /// `objects(_:inCollection:where:)`.
    public final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, inCollection collection: String,
        where filter: @escaping (String) -> Bool = { _ in true }
    ) throws -> YapDatabaseRows<(key: String, metadata: Metadata?)> {
        try begin(collection)
        let coder = try metadataCoder(store.registered(collection))
        return YapDatabaseRows(self, .keyAndMetadata, collection) { statement in
            let key = statement.text(at: 0)
            guard filter(key) else { return nil }
            guard !statement.isNull(at: 2) else { return (key, nil) }
            let metadata = try coder.decoded(key, collection) { try statement.withBytes(at: 2, $0) }
            return (key, try metadata.value(as: type, coder, key, collection))
        }
    }

    /// Returns the keys, objects and metadata of a collection. Parameters and errors: see
    /// `objects(_:inCollection:where:)`.
    public final func rows<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, metadata metadataType: Metadata.Type, inCollection collection: String,
        where filter: @escaping (String) -> Bool = { _ in true }
    ) throws -> YapDatabaseRows<(key: String, object: Object, metadata: Metadata?)> {
        try begin(collection)
        let registered = try store.registered(collection)
        let coder = try metadataCoder(registered)
        return YapDatabaseRows(self, .row, collection) { [unowned self] statement in
            let key = statement.text(at: 0)
            guard filter(key) else { return nil }
            let box = try objectBox(key, registered, statement)
            let object = try box.value(as: type, registered.registration.object, key, collection)
            guard !statement.isNull(at: 3) else { return (key, object, nil) }
            let metadata = try coder.decoded(key, collection) { try statement.withBytes(at: 3, $0) }
            return (key, object, try metadata.value(as: metadataType, coder, key, collection))
        }
    }

    /// Returns the object of the statement's current row, from the cache or decoded. Doesn't add it to the
    /// cache, because one long iteration would evict all other entries.
    final func objectBox(
        _ key: String, _ registered: StoreConnection.Collection, _ statement: borrowing Statement
    ) throws -> CachedValue {
        if let box = registered.cache.object(key) { return box }
        return try registered.registration.object.decoded(key, registered.registration.collection) {
            decode in
            try statement.withBytes(at: 2, decode)
        }
    }
}
