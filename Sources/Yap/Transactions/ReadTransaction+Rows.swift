import SQLite

/// Reading single rows.
extension YapDatabaseReadTransaction {
    /// Returns the object of a row, or nil if the row doesn't exist.
    ///
    /// ```swift
    /// let todo = try transaction.object(Todo.self, forKey: id, inCollection: "todos")
    /// ```
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's objects, or a protocol that it conforms to.
    ///   - key: The key of the row.
    ///   - collection: The collection of the row.
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`, `decoding`, or an error of the file.
    public final func object<Object: Sendable>(
        _ type: Object.Type, forKey key: String, inCollection collection: String
    ) throws -> Object? {
        try begin(key, collection)
        let registered = try store.registered(collection)
        guard let box = try objectBox(key, registered) else { return nil }
        return try box.value(as: type, registered.registration.object, key, collection)
    }

    /// Returns the object of a row with the type that its collection is registered with, or nil if the row doesn't
    /// exist.
    ///
    /// - Throws: The errors of the typed form.
    public final func object(forKey key: String, inCollection collection: String) throws -> (any Sendable)? {
        try begin(key, collection)
        return try objectBox(key, store.registered(collection))?.erased
    }

    /// Returns the metadata of a row, or nil if the row has none or doesn't exist.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    public final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, forKey key: String, inCollection collection: String
    ) throws -> Metadata? {
        try begin(key, collection)
        let registered = try store.registered(collection)
        let coder = try metadataCoder(registered)
        guard let box = try metadataBox(key, registered, coder) else { return nil }
        return try box.value(as: type, coder, key, collection)
    }

    /// Returns the metadata of a row with the registered type, or nil. Throws the errors of the typed form.
    public final func metadata(forKey key: String, inCollection collection: String) throws -> (any Sendable)?
    {
        try begin(key, collection)
        let registered = try store.registered(collection)
        return try metadataBox(key, registered, metadataCoder(registered))?.erased
    }

    /// Returns the object and metadata of a row, or nil if the row doesn't exist.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    public final func row<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, metadata metadataType: Metadata.Type, forKey key: String,
        inCollection collection: String
    ) throws -> (object: Object, metadata: Metadata?)? {
        guard let object = try object(type, forKey: key, inCollection: collection) else { return nil }
        return (object, try metadata(metadataType, forKey: key, inCollection: collection))
    }

    /// Returns the objects of the rows with these keys, in the order of the keys. Nil for a key without a row.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    public final func objects<Object: Sendable>(
        _ type: Object.Type, forKeys keys: some Sequence<String>, inCollection collection: String
    ) throws -> [Object?] {
        try keys.map { try object(type, forKey: $0, inCollection: collection) }
    }

    /// Returns the metadata of the rows with these keys, in the order of the keys. Nil for a key without a row or
    /// metadata.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    public final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, forKeys keys: some Sequence<String>, inCollection collection: String
    ) throws -> [Metadata?] {
        try keys.map { try metadata(type, forKey: $0, inCollection: collection) }
    }

    /// Returns the objects and metadata of the rows with these keys, in the order of the keys. Nil for a key without
    /// a row.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    public final func rows<Object: Sendable, Metadata: Sendable>(
        _ type: Object.Type, metadata metadataType: Metadata.Type, forKeys keys: some Sequence<String>,
        inCollection collection: String
    ) throws -> [(object: Object, metadata: Metadata?)?] {
        try keys.map { try row(type, metadata: metadataType, forKey: $0, inCollection: collection) }
    }

    /// Returns true if the row exists.
    public final func hasObject(forKey key: String, inCollection collection: String) throws -> Bool {
        try rowID(forKey: key, inCollection: collection) != nil
    }

    /// Returns the rowid, by which extensions identify the row, or nil if the row doesn't exist.
    public final func rowID(forKey key: String, inCollection collection: String) throws -> Int64? {
        try begin(key, collection)
        if let entry = store.collection(collection)?.cache.entry(key) { return entry.rowID }
        return try rows.rowID(key, collection)
    }

    /// Returns the collection and key of the row with a rowid, or nil if the row doesn't exist.
    public final func identity(ofRowID rowID: Int64) throws -> YapDatabaseRowIdentity? {
        try check()
        dependencies?.addEverything()
        return try rows.identity(ofRowID: rowID)
    }

    /// Returns the object's bytes as stored on disk, bypassing the caches, or nil if the row doesn't exist. Needs no
    /// registration.
    public final func serializedObject(forKey key: String, inCollection collection: String) throws -> [UInt8]?
    {
        try begin(key, collection)
        let sql = "SELECT data FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { $0.bytes(at: 0) }
    }

    /// Returns the object as stored on disk, bypassing the caches, or nil if the row doesn't exist.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    package final func objectOnDisk(forKey key: String, inCollection collection: String) throws -> (
        any Sendable
    )? {
        try begin(key, collection)
        let registered = try store.registered(collection)
        let sql = "SELECT data FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { statement in
            try registered.registration.object.decoded(key, collection) { decode in
                try statement.withBytes(at: 0, decode)
            }
        }?.erased
    }

    /// Returns the object without the unknown properties that an earlier version of its type has kept for this
    /// version, or nil if it kept none or the row doesn't exist.
    ///
    /// - Throws: The errors of `object(_:forKey:inCollection:)`.
    package final func objectWithoutKept(forKey key: String, inCollection collection: String) throws -> (
        any Sendable
    )? {
        try begin(key, collection)
        let coder = try store.registered(collection).registration.object
        let sql = "SELECT data FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { statement in
            var own: CachedValue?
            _ = try coder.decoded(key, collection) { decode in
                try statement.withBytes(at: 0) { bytes in
                    own = try coder.decodeOwn(bytes)
                    return try own ?? decode(bytes)
                }
            }
            return own?.erased
        } ?? nil
    }

    /// Returns the metadata's bytes as stored on disk, bypassing the caches, or nil if the row has none or doesn't
    /// exist.
    public final func serializedMetadata(forKey key: String, inCollection collection: String) throws
        -> [UInt8]?
    {
        try begin(key, collection)
        let sql = "SELECT metadata FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { $0.isNull(at: 0) ? nil : $0.bytes(at: 0) } ?? nil
    }

    /// Returns the bytes of object and metadata as stored on disk, bypassing the caches, or nil if the row doesn't
    /// exist. Needs no registration.
    public final func serializedRow(
        forKey key: String, inCollection collection: String
    ) throws -> (object: [UInt8], metadata: [UInt8]?)? {
        try begin(key, collection)
        let sql = "SELECT data, metadata FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) {
            ($0.bytes(at: 0), $0.isNull(at: 1) ? nil : $0.bytes(at: 1))
        }
    }

    // MARK: Inside

    final func begin(_ collection: String) throws {
        try check()
        dependencies?.add(collection: collection)
    }

    final func begin(_ key: String, _ collection: String) throws {
        try check()
        dependencies?.add(key: key, collection: collection)
    }

    final func metadataCoder(_ registered: StoreConnection.Collection) throws -> any ValueCoder {
        if let coder = registered.registration.metadata { return coder }
        throw YapDatabaseError(
            .missingRegistration, "no metadata type is registered for the collection",
            collection: registered.registration.collection)
    }

    final func objectBox(_ key: String, _ registered: StoreConnection.Collection) throws -> CachedValue? {
        if let box = registered.cache.object(key) { return box }
        let collection = registered.registration.collection
        let sql = "SELECT rowid, data FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { statement in
            let box = try registered.registration.object.decoded(key, collection) { decode in
                try statement.withBytes(at: 1, decode)
            }
            registered.cache.insert(key, rowID: statement.int64(at: 0)) { $0.object = box }
            return box
        }
    }

    /// Returns the object of a row, from the cache or decoded from the bytes that `lend` lends.
    ///
    /// - Parameter isKept: Whether to cache the object. False for a query that may find all rows.
    final func object<Object: Sendable>(
        _ type: Object.Type, _ key: String, inCollection collection: String, rowID: Int64, isKept: Bool,
        _ lend: ((UnsafeRawBufferPointer) throws -> CachedValue) throws -> CachedValue
    ) throws -> Object {
        let registered = try store.registered(collection)
        let coder = registered.registration.object
        if let box = registered.cache.object(key) { return try box.value(as: type, coder, key, collection) }
        let box = try coder.decoded(key, collection, lend)
        if isKept { registered.cache.insert(key, rowID: rowID) { $0.object = box } }
        return try box.value(as: type, coder, key, collection)
    }

    final func metadataBox(
        _ key: String, _ registered: StoreConnection.Collection, _ coder: any ValueCoder
    ) throws -> CachedValue? {
        switch registered.cache.entry(key)?.metadata {
        case .value(let box): return box
        case CachedMetadata.none?: return nil
        case .unknown, nil: break
        }
        let collection = registered.registration.collection
        let sql = "SELECT rowid, metadata FROM database2 WHERE collection = ?1 AND key = ?2"
        return try rows.find(sql, key, collection) { statement in
            let isNull = statement.isNull(at: 1)
            let box =
                try isNull
                ? nil
                : coder.decoded(key, collection) { decode in try statement.withBytes(at: 1, decode) }
            registered.cache.insert(key, rowID: statement.int64(at: 0)) {
                $0.metadata = box.map { .value($0) } ?? CachedMetadata.none
            }
            return box
        } ?? nil
    }

    /// Returns the metadata of the statement's current row, from the cache or decoded.
    ///
    /// - Parameter keptRowID: The rowid, to cache the metadata. Nil for a query that may find all rows.
    final func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ key: String, inCollection collection: String,
        _ statement: borrowing Statement, column: Int32, keptRowID: Int64?
    ) throws -> Metadata? {
        let registered = try store.registered(collection)
        let coder = try metadataCoder(registered)
        switch registered.cache.entry(key)?.metadata {
        case .value(let box): return try box.value(as: type, coder, key, collection)
        case CachedMetadata.none?: return nil
        case .unknown, nil: break
        }
        let isNull = statement.isNull(at: column)
        let box =
            try isNull
            ? nil
            : coder.decoded(key, collection) { decode in try statement.withBytes(at: column, decode) }
        if let keptRowID {
            registered.cache.insert(key, rowID: keptRowID) {
                $0.metadata = box.map { .value($0) } ?? CachedMetadata.none
            }
        }
        return try box.map { try $0.value(as: type, coder, key, collection) }
    }
}
