import SQLite

/// Keeps properties that the type doesn't know when an object is stored again, in one write transaction.
///
/// For each collection, the file has the names of all properties that any version of its type had. If the
/// registered type has all of them, no stored object has to be read. It lacks some after an earlier version
/// of the app is installed again, or after a property is removed.
final class PropertyNames {
    /// The transaction's reads and records, by collection.
    struct State {
        /// Whether stored objects may have properties that their type doesn't know.
        fileprivate(set) var mayHaveUnknown: [String: Bool] = [:]
        /// Recorded names, as read and extended by `note(stored:_:)`.
        fileprivate var stored: [String: Set<String>] = [:]
    }

    /// Saved and restored around a savepoint.
    var state = State()
    private let store: StoreConnection

    init(_ store: StoreConnection) { self.store = store }

    /// Records the property names of the collection's type, and whether stored objects may have others. Runs once a
    /// transaction.
    ///
    /// - Parameter data: An encoded object of the type.
    func note(_ data: [UInt8], _ registered: StoreConnection.Collection) throws {
        let collection = registered.registration.collection
        guard state.mayHaveUnknown[collection] == nil else { return }
        guard let known = registered.registration.object.knownNames(data) else {
            state.mayHaveUnknown[collection] = false
            return
        }
        try noting {
            let noted = try NotedNames(store.config, collection)
            try noted.note(known)
            state.mayHaveUnknown[collection] = !noted.all.isSubset(of: known)
        }
    }

    /// Records the property names in the bytes of an object that isn't encoded here. The type may not know some of
    /// them, and must keep them when it stores the object again.
    func note(serialized data: [UInt8], _ registered: StoreConnection.Collection) throws {
        guard registered.registration.object.isCBOR else { return }
        try note(stored: data, registered.registration.collection)
    }

    /// Records the property names in the bytes of an object of a collection that needn't be registered.
    func note(stored data: [UInt8], _ collection: String) throws {
        let names = data.withUnsafeBytes { StoredObject.propertyNames($0, max: NotedNames.namesMax) }
        guard !names.isSubset(of: state.stored[collection] ?? []) else { return }
        try noting {
            let noted = try NotedNames(store.config, collection)
            try noted.add(names)
            state.stored[collection] = noted.all.union(names)
            state.mayHaveUnknown[collection] = nil
        }
    }

    /// Returns the bytes of a row's new object, with the properties of the stored object that its type doesn't know.
    func keeping(
        _ rowID: Int64, in data: [UInt8], _ registered: StoreConnection.Collection
    ) throws -> [UInt8] {
        guard state.mayHaveUnknown[registered.registration.collection] == true else { return data }
        return try store.statement("SELECT data FROM database2 WHERE rowid = ?1") { statement in
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return data }
            return statement.withBytes(at: 0) { registered.registration.object.keeping($0, in: data) }
        }
    }

    private func noting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SQLiteError {
            throw store.noted(error)
        }
    }
}
