import SQLite

extension CollectionRegistration {
    /// Decodes a row of this collection from a statement's current row: `rowid, collection, key, data, metadata`.
    func row(_ rowID: Int64, _ collection: String, _ statement: borrowing Statement) throws
        -> YapDatabaseStoredRow
    {
        let identity = YapDatabaseRowIdentity(
            rowID: rowID, collection: collection, key: statement.text(at: 2))
        let object = try self.object.decoded(identity.key, collection) { decode in
            try statement.withBytes(at: 3, decode)
        }
        let metadata =
            statement.isNull(at: 4)
            ? nil
            : try self.metadata?.decoded(identity.key, collection) { decode in
                try statement.withBytes(at: 4, decode)
            }
        return YapDatabaseStoredRow(identity: identity, object: object.erased, metadata: metadata?.erased)
    }
}
