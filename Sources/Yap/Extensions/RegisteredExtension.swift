/// An extension under its name, and the first snapshot in which its tables are there.
struct RegisteredExtension: Sendable {
    let name: String
    let instance: any YapDatabaseExtension
    let sinceSnapshot: UInt64
    /// Tells two registrations under one name apart, so that no connection goes on with the caches of the
    /// first.
    let generation: UInt64
}
