/// A row to sort. A stored row reads the values that a sort needs, once.
final class ViewSortRow<Object: Sendable> {
    let rowID: Int64
    let key: String
    private let collection: String
    private let transaction: YapDatabaseReadTransaction?
    private var knownObject: Object?
    private var knownMetadata: (any Sendable)??

    /// Creates a row with known values.
    init(_ identity: YapDatabaseRowIdentity, _ object: Object, _ metadata: (any Sendable)?) {
        (rowID, collection, key) = (identity.rowID, identity.collection, identity.key)
        (knownObject, knownMetadata) = (object, .some(metadata))
        transaction = nil
    }

    /// Creates a row that reads its values when they are needed.
    init(_ identity: YapDatabaseRowIdentity, in transaction: YapDatabaseReadTransaction) {
        (rowID, collection, key) = (identity.rowID, identity.collection, identity.key)
        self.transaction = transaction
    }

    /// - Throws: `YapDatabaseError`: `decoding`, or an error of the file.
    func object() throws -> Object {
        if let knownObject { return knownObject }
        guard let object = try transaction?.object(Object.self, forKey: key, inCollection: collection) else {
            throw YapDatabaseError(
                .corrupt, "a row of a view doesn't exist", collection: collection, key: key)
        }
        knownObject = object
        return object
    }

    /// Returns the metadata, or nil if the row has none.
    ///
    /// - Throws: The errors of `object()`.
    func metadata<Metadata: Sendable>(_ type: Metadata.Type) throws -> Metadata? {
        if let knownMetadata { return knownMetadata as? Metadata }
        let identity = YapDatabaseRowIdentity(rowID: rowID, collection: collection, key: key)
        let metadata = try transaction?.storedMetadata(of: identity)
        knownMetadata = .some(metadata)
        return metadata as? Metadata
    }
}
