import SQLite

/// Rows as bytes, of collections whose types needn't be registered: for programs that load what another one dumped.
extension YapDatabaseReadWriteTransaction {
    /// The bytes of a row.
    package struct StoredBytes: Equatable, Sendable {
        package let data: [UInt8]
        package let metadata: [UInt8]?

        package init(data: [UInt8], metadata: [UInt8]?) {
            (self.data, self.metadata) = (data, metadata)
        }
    }

    /// The bytes of a row; nil if there is no row of this name.
    package func storedBytes(forKey key: String, inCollection collection: String) throws -> StoredBytes? {
        try serializedRow(forKey: key, inCollection: collection).map {
            StoredBytes(data: $0.object, metadata: $0.metadata)
        }
    }

    /// Stores the bytes of a row, whether there is a row of this name or not. Nothing of a row that is there is kept.
    ///
    /// Extensions that the file has and this process hasn't registered are left behind as by any other write: they are
    /// brought up to date by the process that registers them next.
    ///
    /// - Throws: `YapDatabaseError`; `invalidExtension` if an extension of this process hears of the collection, which
    ///   would need the object.
    package func setStoredBytes(
        _ bytes: StoredBytes, forKey key: String, inCollection collection: String
    ) throws {
        try check()
        guard !store.isHeard(collection) else {
            throw YapDatabaseError(
                .invalidExtension, "bytes are stored only where no extension is registered",
                collection: collection, key: key)
        }
        try noteNames(ofStored: bytes.data, collection)
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

    /// Notes the names of the properties: a type that doesn't know one of them must keep it when it stores the object
    /// again.
    func noteNames(ofStored data: [UInt8], _ collection: String) throws {
        let names = data.withUnsafeBytes { StoredObject.propertyNames($0, max: NotedNames.namesMax) }
        guard !names.isSubset(of: storedNames[collection] ?? []) else { return }
        do {
            let noted = try NotedNames(store.config, collection)
            try noted.add(names)
            storedNames[collection] = noted.all.union(names)
            mayHaveUnknown[collection] = nil
        } catch let error as SQLiteError {
            throw store.noted(error)
        }
    }
}
