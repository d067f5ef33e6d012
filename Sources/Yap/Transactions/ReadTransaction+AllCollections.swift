import SQLite

/// Iteration over the rows of several or all collections, ordered by the bytes of collection and key.
///
/// The sequences behave as those of one collection (`objects(_:inCollection:where:)`): lazy, and complete or an
/// error. Each collection has one registered type. `type` is that type, a protocol that the types of all collections
/// conform to, or `(any Sendable).self` for objects of any type. A row of another type fails the transaction with
/// `typeMismatch`, and a row of an unregistered collection with `missingRegistration`, unless the filter excludes it.
extension YapDatabaseReadTransaction {
    // MARK: Several collections

    /// Returns the keys of several collections, one collection after the other.
    ///
    /// - Parameter collections: The collections. A collection that is named twice is read once.
    public final func keys(inCollections collections: some Sequence<String>) throws
        -> YapDatabaseRows<YapCollectionKey>
    {
        names(try scope(of: collections))
    }

    /// Returns objects of several collections, one collection after the other. A collection that is named twice is
    /// read once.
    ///
    /// ```swift
    /// for row in try transaction.objects(Todo.self, inCollections: ["inbox", "today"]) {
    ///     print(row.collection, row.key, row.object.title)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the objects, or a protocol that they conform to.
    ///   - collections: The collections.
    ///   - filter: Returns whether to include a row, by collection and key. Called before the object is decoded.
    public final func objects<Object: Sendable>(
        _ type: Object.Type, inCollections collections: some Sequence<String>,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, object: Object)> {
        objects(type, try scope(of: collections), filter)
    }

    /// Returns metadata of several collections, without reading the objects. Parameters: see
    /// `objects(_:inCollections:where:)`.
    public final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, inCollections collections: some Sequence<String>,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, metadata: Metadata?)> {
        metadata(type, try scope(of: collections), filter)
    }

    /// Returns objects and metadata of several collections. Parameters: see `objects(_:inCollections:where:)`.
    public final func rows<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, metadata metadataType: Metadata.Type,
        inCollections collections: some Sequence<String>,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, object: Object, metadata: Metadata?)> {
        rows(type, metadataType, try scope(of: collections), filter)
    }

    // MARK: All collections

    /// Returns the keys of all collections.
    public final func keysInAllCollections() throws -> YapDatabaseRows<YapCollectionKey> {
        names(try scopeOfAll())
    }

    /// Returns objects of all collections.
    ///
    /// ```swift
    /// for row in try transaction.objectsInAllCollections((any Sendable).self) {
    ///     if let todo = row.object as? Todo { print(row.key, todo.title) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: `(any Sendable).self`, or a type or protocol of all objects.
    ///   - filter: Returns whether to include a row, by collection and key. Called before the object is decoded.
    public final func objectsInAllCollections<Object: Sendable>(
        _ type: Object.Type,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, object: Object)> {
        objects(type, try scopeOfAll(), filter)
    }

    /// Returns metadata of all collections, without reading the objects. Parameters: see
    /// `objectsInAllCollections(_:where:)`.
    public final func metadataInAllCollections<Metadata: Sendable>(
        _ type: Metadata.Type,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, metadata: Metadata?)> {
        metadata(type, try scopeOfAll(), filter)
    }

    /// Returns objects and metadata of all collections. Parameters: see `objectsInAllCollections(_:where:)`.
    public final func rowsInAllCollections<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, metadata metadataType: Metadata.Type,
        where filter: @escaping (_ collection: String, _ key: String) -> Bool = { _, _ in true }
    ) throws -> YapDatabaseRows<(collection: String, key: String, object: Object, metadata: Metadata?)> {
        rows(type, metadataType, try scopeOfAll(), filter)
    }

    // MARK: Inside

    private final func scope(of collections: some Sequence<String>) throws -> RowCursor.Scope {
        try check()
        var (names, seen) = ([String](), Set<ExactString>())
        for collection in collections where seen.insert(ExactString(collection)).inserted {
            dependencies?.add(collection: collection)
            names.append(collection)
        }
        return .collections(names)
    }

    private final func scopeOfAll() throws -> RowCursor.Scope {
        try check()
        dependencies?.addEverything()
        return .all
    }

    private final func names(_ scope: RowCursor.Scope) -> YapDatabaseRows<YapCollectionKey> {
        YapDatabaseRows(self, RowCursor.Query(.name, scope)) {
            YapCollectionKey(collection: $0.text(at: 1), key: $0.text(at: 0))
        }
    }

    private final func objects<Object: Sendable>(
        _ type: Object.Type, _ scope: RowCursor.Scope, _ filter: @escaping (String, String) -> Bool
    ) -> YapDatabaseRows<(collection: String, key: String, object: Object)> {
        YapDatabaseRows(self, RowCursor.Query(.nameAndObject, scope)) { [unowned self] statement in
            let (key, collection) = (statement.text(at: 0), statement.text(at: 1))
            guard filter(collection, key) else { return nil }
            return (collection, key, try object(type, key, collection, statement))
        }
    }

    private final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ scope: RowCursor.Scope, _ filter: @escaping (String, String) -> Bool
    ) -> YapDatabaseRows<(collection: String, key: String, metadata: Metadata?)> {
        YapDatabaseRows(self, RowCursor.Query(.nameAndMetadata, scope)) { [unowned self] statement in
            let (key, collection) = (statement.text(at: 0), statement.text(at: 1))
            guard filter(collection, key) else { return nil }
            return (collection, key, try metadata(type, key, collection, statement, column: 2))
        }
    }

    private final func rows<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, _ metadataType: Metadata.Type, _ scope: RowCursor.Scope,
        _ filter: @escaping (String, String) -> Bool
    ) -> YapDatabaseRows<(collection: String, key: String, object: Object, metadata: Metadata?)> {
        YapDatabaseRows(self, RowCursor.Query(.nameAndRow, scope)) { [unowned self] statement in
            let (key, collection) = (statement.text(at: 0), statement.text(at: 1))
            guard filter(collection, key) else { return nil }
            let object = try object(type, key, collection, statement)
            return (
                collection, key, object, try metadata(metadataType, key, collection, statement, column: 3)
            )
        }
    }

    private final func object<Object: Sendable>(
        _ type: Object.Type, _ key: String, _ collection: String, _ statement: borrowing Statement
    ) throws -> Object {
        let registered = try store.registered(collection)
        let box = try objectBox(key, registered, statement)
        return try box.value(as: type, registered.registration.object, key, collection)
    }

    /// Returns metadata. Nil needs no registered type.
    private final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ key: String, _ collection: String, _ statement: borrowing Statement,
        column: Int32
    ) throws -> Metadata? {
        guard !statement.isNull(at: column) else { return nil }
        let coder = try metadataCoder(store.registered(collection))
        let box = try coder.decoded(key, collection) { try statement.withBytes(at: column, $0) }
        return try box.value(as: type, coder, key, collection)
    }
}
