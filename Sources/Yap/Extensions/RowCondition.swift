/// Decides which rows of its collection an extension has, by the object, and by the metadata if its type is given.
struct RowCondition<Object: Sendable>: Sendable {
    /// Type of the metadata. Nil if only the object decides.
    let metadataType: (any Sendable.Type)?
    /// Returns true if the extension has a row with this object and this metadata.
    let isIncluded: @Sendable (Object, (any Sendable)?) -> Bool

    init(_ isIncluded: @escaping @Sendable (Object) -> Bool) {
        metadataType = nil
        self.isIncluded = { object, _ in isIncluded(object) }
    }

    init<Metadata: Sendable>(
        _ type: Metadata.Type, _ isIncluded: @escaping @Sendable (Object, Metadata?) -> Bool
    ) {
        metadataType = type
        self.isIncluded = { isIncluded($0, $1 as? Metadata) }
    }
}
