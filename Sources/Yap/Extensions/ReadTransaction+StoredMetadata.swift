extension YapDatabaseReadTransaction {
    /// The stored metadata of a row, for an extension that follows a write of the object alone.
    ///
    /// - Returns: Nil if the row has none. Also if it can't be decoded and the object was fetched from elsewhere: such
    ///   a write would fail again and again.
    /// - Throws: As `metadata(forKey:inCollection:)`.
    final func storedMetadata(of row: YapDatabaseRowIdentity) throws -> (any Sendable)? {
        do {
            return try metadata(forKey: row.key, inCollection: row.collection)
        } catch let error as YapDatabaseError where error.code == .decoding {
            guard (self as? YapDatabaseReadWriteTransaction)?.passesOverMistakes == true else { throw error }
            return nil
        }
    }
}
