/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The database; nil means the container's private one. Adding the operation to a database sets it.
    public var database: CKDatabase?

    override var target: CKDatabase { database ?? super.target }
}
