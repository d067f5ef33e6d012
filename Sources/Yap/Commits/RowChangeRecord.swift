/// Changes of one row in one commit.
struct RowChangeRecord: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let inserted = Flags(rawValue: 1)
        static let object = Flags(rawValue: 2)
        static let metadata = Flags(rawValue: 4)
        static let touchedObject = Flags(rawValue: 8)
        static let touchedMetadata = Flags(rawValue: 16)
        static let removed = Flags(rawValue: 32)

        static let any = Flags(rawValue: .max)
        /// Changes of the object; a touch counts as one.
        static let anyOfObject: Flags = [.inserted, .object, .touchedObject, .removed]
        /// Changes of the metadata; a touch counts as one.
        static let anyOfMetadata: Flags = [.inserted, .metadata, .touchedMetadata, .removed]
    }

    var flags: Flags
    /// True if the row didn't exist before these changes.
    private(set) var isNew: Bool
    var rowID: Int64
    /// The new object. Nil if it didn't change or isn't available.
    var object: CachedValue?
    var metadata: CachedMetadata

    init(
        flags: Flags, rowID: Int64, object: CachedValue? = nil, metadata: CachedMetadata = .unknown
    ) {
        (self.flags, self.rowID, self.object, self.metadata) = (flags, rowID, object, metadata)
        isNew = flags.contains(.inserted)
    }

    /// Adds a later change of the same commit.
    mutating func merge(_ later: RowChangeRecord) {
        if later.flags.contains(.removed) {
            let isNew = isNew
            self = later
            self.isNew = isNew
        } else if flags.contains(.removed) {
            // The row was removed and inserted again. Between the two commits it was changed.
            flags = [.object, .metadata]
            object = later.object
            metadata = later.metadata
        } else {
            flags.formUnion(later.flags)
            if later.flags.contains(.object) { object = later.object }
            if later.flags.contains(.metadata) { metadata = later.metadata }
        }
        rowID = later.rowID
    }
}
