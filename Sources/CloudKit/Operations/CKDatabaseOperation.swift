/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Sendable as a CKOperation is: `database` is set by the app, or by the `add` that starts the operation, and then
    // only read.

    /// The database; nil for the container's private database. Adding the operation to a database sets it.
    public var database: CKDatabase?

    override var target: CKDatabase { database ?? super.target }
}
