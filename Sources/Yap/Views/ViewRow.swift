/// A row to place in a view.
struct ViewRow<Object: Sendable> {
    /// Metadata of a change, or metadata that is read when a closure needs it.
    enum Metadata {
        case known((any Sendable)?)
        case stored(YapDatabaseReadTransaction)
    }

    let identity: YapDatabaseRowIdentity
    let object: Object
    let metadata: Metadata

    /// Returns the metadata, or nil if the row has none.
    func readMetadata() throws -> (any Sendable)? {
        switch metadata {
        case .known(let metadata): metadata
        case .stored(let transaction): try transaction.storedMetadata(of: identity)
        }
    }
}
