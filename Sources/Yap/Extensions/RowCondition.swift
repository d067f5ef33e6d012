/// Which rows of its collection an extension has: decided by the object, and by the metadata if a type of it is given.
struct RowCondition<Object: Sendable>: Sendable {
    /// The type of the metadata that decides; nil if the object decides alone.
    let metadataType: (any Sendable.Type)?
    /// Whether the extension has a row with this object and this metadata.
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
