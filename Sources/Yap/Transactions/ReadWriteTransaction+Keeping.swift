import SQLite

/// Keeps properties that the type doesn't know when an object is stored again.
///
/// For each collection, the file has the names of all properties that any version of its type had. If the registered
/// type knows them all, no stored object has to be read. It lacks some after an earlier version of the app is
/// installed again, or after a property is removed.
extension YapDatabaseReadWriteTransaction {
    /// Records the property names of the collection's type, and whether stored objects may have others. Runs once a
    /// transaction.
    ///
    /// - Parameter data: An encoded object of the type.
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

    /// Returns the bytes of a row's new object, with the properties of the stored object that its type doesn't know.
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
