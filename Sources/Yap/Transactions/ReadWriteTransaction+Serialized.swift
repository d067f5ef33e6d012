/// Storing bytes that are encoded already, as returned by `serializedObject` and `serializedMetadata`. They are
/// decoded once, to make sure that they can be read and to give extensions the object. Pre-sanitizers aren't called.
extension YapDatabaseReadWriteTransaction {
    /// Stores object and metadata, and inserts the row if it doesn't exist. Clears the metadata of an existing row if
    /// none is passed.
    ///
    /// - Throws: The errors of `setObject`, and `decoding` if the bytes aren't a value of the registered type.
    public func setSerializedObject(
        _ data: [UInt8], metadata: [UInt8]? = nil, forKey key: String, inCollection collection: String
    ) throws {
        let (registered, name) = try prepare(key, collection)
        let box = try decoded(data, registered.registration.object, name)
        let metadata = try metadata.map { (try decoded($0, metadataCoder(registered), name), $0) }
        try noteNames(ofSerialized: data, registered)
        try write(
            WrittenRow(name: name, object: box, data: data, metadata: metadata, keepsUnknown: false),
            registered)
    }

    /// Stores the object of an existing row, and keeps its metadata. Does nothing if the row doesn't exist.
    ///
    /// - Returns: True if the row exists.
    /// - Throws: The errors of `setSerializedObject`.
    @discardableResult
    public func replaceSerializedObject(
        _ data: [UInt8], forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let box = try decoded(data, registered.registration.object, name)
        try noteNames(ofSerialized: data, registered)
        try noteNames(data, registered)
        try replaceObject(of: identity, by: box, data)
        return true
    }

    /// Stores the metadata of an existing row, and keeps its object. Nil clears the metadata. Does nothing if the row
    /// doesn't exist.
    ///
    /// - Returns: True if the row exists.
    /// - Throws: The errors of `setSerializedObject`.
    @discardableResult
    public func replaceSerializedMetadata(
        _ metadata: [UInt8]?, forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let coder = try metadataCoder(registered)
        let box = try metadata.map { try decoded($0, coder, name) }
        try replaceMetadata(of: identity, by: box, metadata)
        return true
    }

    private func decoded(
        _ data: [UInt8], _ coder: any ValueCoder, _ name: YapCollectionKey
    ) throws -> CachedValue {
        try decoded(coder, name.key, name.collection) { try data.withUnsafeBytes($0) }
    }

    /// Records the property names in the bytes. The type may not know some of them, and must keep them when it stores
    /// the object again.
    private func noteNames(ofSerialized data: [UInt8], _ registered: StoreConnection.Collection) throws {
        guard registered.registration.object.isCBOR else { return }
        try noteNames(ofStored: data, registered.registration.collection)
    }
}
