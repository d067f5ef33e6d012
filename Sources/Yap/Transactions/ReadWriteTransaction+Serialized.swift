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
        let box = try registered.registration.object.decoded(data, name)
        let metadata = try metadata.map { (try metadataCoder(registered).decoded($0, name), $0) }
        try propertyNames.note(serialized: data, registered)
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
        let box = try registered.registration.object.decoded(data, name)
        try propertyNames.note(serialized: data, registered)
        try propertyNames.note(data, registered)
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
        let box = try metadata.map { try coder.decoded($0, name) }
        try replaceMetadata(of: identity, by: box, metadata)
        return true
    }
}
