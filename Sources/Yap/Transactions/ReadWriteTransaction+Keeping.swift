import SQLite

/// How an object that is stored again keeps the properties that its type doesn't know.
///
/// The file has, for each collection, the names of all properties that any version of its type knew. No stored object
/// is looked at where the registered type knows them all: until an earlier version is installed again, or a property
/// is removed.
extension YapDatabaseReadWriteTransaction {
    /// Names of a collection beyond which no more are noted.
    private static var notedNamesMax: Int { 1_000 }

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
        let noted = try storedNames(collection)
        let all = noted.union(known)
        if all.count > noted.count, all.count <= Self.notedNamesMax { try store(all, collection) }
        mayHaveUnknown[collection] = !noted.isSubset(of: known)
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

    private func storedNames(_ collection: String) throws -> Set<String> {
        do {
            let bytes = try store.config.bytes(extension: "", key: ConfigTable.namesKey(collection))
            return try bytes.map { try CBORDecoder().decode(Set<String>.self, from: $0) } ?? []
        } catch let error as SQLiteError {
            throw store.noted(error)
        } catch {
            // Only something else than Yap wrote it: what the type knows takes its place.
            return []
        }
    }

    private func store(_ names: Set<String>, _ collection: String) throws {
        do {
            try store.config.setBytes(
                CBOREncoder().encode(names), extension: "", key: ConfigTable.namesKey(collection))
        } catch let error as SQLiteError {
            throw store.noted(error)
        }
    }
}
