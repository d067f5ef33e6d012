/// Metadata of rows.
extension YapDatabaseProxy {
    // MARK: Reading

    /// Returns the metadata of a row, or nil if it has none or doesn't exist. Includes pending changes.
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata.
    ///   - key: The row's key.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `missingRegistration`, `typeMismatch`, `decoding`,
    ///   `closed`, or an error of the file.
    public func metadata<Metadata: Sendable>(_ type: Metadata.Type, forKey key: String) async throws
        -> Metadata?
    {
        try checkMetadata(type)
        let change = queue.change(of: key)
        return try await connection.read { [collection] transaction in
            try transaction.metadata(type, key, collection, after: change)
        }
    }

    /// Returns the object and metadata of a row, or nil if it doesn't exist. Includes pending changes. Parameters and
    /// errors: see `metadata(_:forKey:)`.
    public func row<Metadata: Sendable>(metadata type: Metadata.Type, forKey key: String) async throws
        -> (object: Object, metadata: Metadata?)?
    {
        try checkMetadata(type)
        let change = queue.change(of: key)
        return try await connection.read { [collection] transaction in
            try Self.row(type, key, collection, after: change, transaction)
        }
    }

    fileprivate static func row<Metadata: Sendable>(
        _ type: Metadata.Type, _ key: String, _ collection: String,
        after change: ProxyChanges<Object>.Change?, _ transaction: YapDatabaseReadTransaction
    ) throws -> (object: Object, metadata: Metadata?)? {
        guard let object = try transaction.object(key, collection, after: change) else { return nil }
        return (object, try transaction.metadata(type, key, collection, after: change))
    }

    // MARK: Changing

    /// Sets the object and metadata of a row, inserts the row if it doesn't exist, and returns at once.
    ///
    /// - Throws: The errors of `setObject(_:forKey:)`; `YapDatabaseError`: `missingRegistration` or `typeMismatch`
    ///   for the metadata.
    public func setObject<Metadata: Sendable>(_ object: Object, metadata: Metadata, forKey key: String) throws
    {
        try checkMetadata(Metadata.self)
        try queue.add(.set(object, metadata: metadata), key)
    }

    /// Sets the object of a row, keeps its metadata, and returns at once. Pending changes of one row are written, or
    /// discarded, together. Does nothing if the row doesn't exist when the change is written. Throws the errors of
    /// `setObject(_:forKey:)`.
    public func replaceObject(_ object: Object, forKey key: String) throws {
        try queue.add(.replace(ProxyReplacement(object: object)), key)
    }

    /// Sets the metadata of a row, keeps its object, and returns at once. Nil clears the metadata. Does nothing if
    /// the row doesn't exist when the change is written. Throws the errors of `setObject(_:metadata:forKey:)`.
    public func replaceMetadata<Metadata: Sendable>(_ metadata: Metadata?, forKey key: String) throws {
        try checkMetadata(Metadata.self)
        try queue.add(.replace(ProxyReplacement(metadata: .set(metadata))), key)
    }

    fileprivate func checkMetadata<Metadata: Sendable>(_ type: Metadata.Type) throws {
        try connection.database.checkMetadataRegistration(of: type, inCollection: collection)
    }
}

extension YapDatabaseProxy.Blocking {
    /// Returns the metadata of a row, or nil if it has none or doesn't exist.
    ///
    /// - Throws: The errors of the proxy's `metadata(_:forKey:)`; `YapDatabaseError` with `nestedTransaction` inside
    ///   a read of the connection, and `transactionNotPermitted`.
    @available(*, noasync, message: "call `try await proxy.metadata(_:forKey:)`")
    public func metadata<Metadata: Sendable>(_ type: Metadata.Type, forKey key: String) throws -> Metadata? {
        try proxy.checkMetadata(type)
        let change = proxy.queue.change(of: key)
        try proxy.connection.check(.blockingRead)
        return try proxy.connection.readNow { transaction in
            try transaction.metadata(type, key, proxy.collection, after: change)
        }.result
    }

    /// Returns the object and metadata of a row, or nil if it doesn't exist. Throws the errors of
    /// `metadata(_:forKey:)`.
    @available(*, noasync, message: "call `try await proxy.row(metadata:forKey:)`")
    public func row<Metadata: Sendable>(metadata type: Metadata.Type, forKey key: String) throws
        -> (object: Object, metadata: Metadata?)?
    {
        try proxy.checkMetadata(type)
        let change = proxy.queue.change(of: key)
        try proxy.connection.check(.blockingRead)
        return try proxy.connection.readNow { transaction in
            try YapDatabaseProxy.row(type, key, proxy.collection, after: change, transaction)
        }.result
    }
}
