/// An extension under its name, and the first snapshot in which its tables are there.
struct RegisteredExtension: Sendable {
    let name: String
    let instance: any YapDatabaseExtension
    let sinceSnapshot: UInt64
    /// Tells two registrations under one name apart, so that no connection goes on with the caches of the
    /// first.
    let generation: UInt64
    /// Whether rows are handed to it, now or at an earlier registration.
    var isFilled = false

    /// The same registration of an extension that was filled, whose tables are there from another snapshot on.
    func filled(since snapshot: UInt64) -> RegisteredExtension {
        RegisteredExtension(
            name: name, instance: instance, sinceSnapshot: snapshot, generation: generation, isFilled: true)
    }
}
