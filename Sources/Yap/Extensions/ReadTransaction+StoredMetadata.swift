extension YapDatabaseReadTransaction {
    /// Returns the stored metadata of a row, for an extension that handles a write of the object only.
    ///
    /// - Returns: Nil if the row has none. Also nil if it can't be decoded and the object was fetched: such a
    ///   write would fail on each attempt.
    /// - Throws: The errors of `metadata(forKey:inCollection:)`.
    final func storedMetadata(of row: YapDatabaseRowIdentity) throws -> (any Sendable)? {
        do {
            return try metadata(forKey: row.key, inCollection: row.collection)
        } catch let error as YapDatabaseError where error.code == .decoding {
            guard (self as? YapDatabaseReadWriteTransaction)?.passesOverMistakes == true else { throw error }
            return nil
        }
    }
}
