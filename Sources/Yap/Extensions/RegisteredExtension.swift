/// An extension under its name, and the first snapshot that has its tables.
struct RegisteredExtension: Sendable {
    let name: String
    let instance: any YapDatabaseExtension
    let sinceSnapshot: UInt64
    /// Distinguishes registrations under the same name, so that no connection continues with the caches of an earlier
    /// one.
    let generation: UInt64
    /// True if rows are passed to it, now or at an earlier registration.
    var isFilled = false

    /// Returns the same registration for a filled extension. Its tables exist from another snapshot on.
    func filled(since snapshot: UInt64) -> RegisteredExtension {
        RegisteredExtension(
            name: name, instance: instance, sinceSnapshot: snapshot, generation: generation, isFilled: true)
    }
}
