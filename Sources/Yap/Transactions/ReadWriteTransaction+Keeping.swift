import SQLite

/// How an object that is stored again keeps the properties that its type doesn't know.
///
/// The file has, for each collection, the names of all properties that any version of its type knew. No stored object
/// is looked at where the registered type knows them all: until an earlier version is installed again, or a property
/// is removed.
extension YapDatabaseReadWriteTransaction {
    /// Notes the names that the collection's type knows, and whether stored objects may have others. Looks once a
    /// transaction.
    ///
    /// - Parameter data: An object of the type.
    func noteNames(_ data: [UInt8], _ registered: StoreConnection.Collection) throws {
        let collection = registered.registration.collection
        guard mayHaveUnknown[collection] == nil else { return }
        guard let known = registered.registration.object.knownNames(data) else {
            mayHaveUnknown[collection] = false
            return
        }
        do {
            let noted = try NotedNames(store.config, collection)
            try noted.note(known)
            mayHaveUnknown[collection] = !noted.all.isSubset(of: known)
        } catch let error as SQLiteError {
            throw store.noted(error)
        }
    }

    /// The bytes of a row's new object with what the stored one has of properties that its type doesn't know.
    func keeping(
        _ rowID: Int64, in data: [UInt8], _ registered: StoreConnection.Collection
    ) throws -> [UInt8] {
        guard mayHaveUnknown[registered.registration.collection] == true else { return data }
        return try store.statement("SELECT data FROM database2 WHERE rowid = ?1") { statement in
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return data }
            return statement.withBytes(at: 0) { registered.registration.object.keeping($0, in: data) }
        }
    }
}
