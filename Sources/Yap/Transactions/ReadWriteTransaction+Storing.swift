/// Rows as bytes, in collections that needn't be registered, for programs that load a dump.
extension YapDatabaseReadWriteTransaction {
    /// Bytes of a row.
    package struct StoredBytes: Equatable, Sendable {
        package let data: [UInt8]
        package let metadata: [UInt8]?

        package init(data: [UInt8], metadata: [UInt8]?) {
            (self.data, self.metadata) = (data, metadata)
        }
    }

    /// Returns the bytes of a row, or nil if the row doesn't exist.
    package func storedBytes(forKey key: String, inCollection collection: String) throws -> StoredBytes? {
        try serializedRow(forKey: key, inCollection: collection).map {
            StoredBytes(data: $0.object, metadata: $0.metadata)
        }
    }

    /// Stores the bytes of a row, and inserts the row if it doesn't exist. Nothing of an existing row is kept.
    ///
    /// Extensions in the file that this process hasn't registered miss the change, as with any other write. The
    /// process that registers them next brings them up to date.
    ///
    /// - Throws: `YapDatabaseError`; `invalidExtension` if an extension of this process observes the collection,
    ///   because it would need the object.
    package func setStoredBytes(
        _ bytes: StoredBytes, forKey key: String, inCollection collection: String
    ) throws {
        try check()
        guard !store.isHeard(collection) else {
            throw YapDatabaseError(
                .invalidExtension, "bytes are stored only where no extension is registered",
                collection: collection, key: key)
        }
        try propertyNames.note(stored: bytes.data, collection)
        let name = YapCollectionKey(collection: collection, key: key)
        if let rowID = try rows.insert(key, collection, data: bytes.data, metadata: bytes.metadata) {
            mutations.mutated(collection)
            return try recordStored(rowID, [.inserted, .object, .metadata], bytes, name)
        }
        guard let rowID = try rows.rowID(key, collection) else {
            throw YapDatabaseError(
                .corrupt, "a row is neither there nor can it be added", collection: collection, key: key)
        }
        try rows.update(rowID, data: bytes.data, metadata: bytes.metadata)
        try recordStored(rowID, [.object, .metadata], bytes, name)
    }

    private func recordStored(
        _ rowID: Int64, _ flags: RowChangeRecord.Flags, _ bytes: StoredBytes, _ name: YapCollectionKey
    ) throws {
        let metadata = bytes.metadata == nil ? CachedMetadata.none : .unknown
        try record(RowChangeRecord(flags: flags, rowID: rowID, object: nil, metadata: metadata), name)
    }
}
