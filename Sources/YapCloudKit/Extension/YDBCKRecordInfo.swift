public import CloudKit
internal import CloudWire

/// Context of a call of the record handler, and further results beside the record.
public final class YDBCKRecordInfo {
    /// Identifier of the record's cloud database; nil is the private database of the default container. Preset for a
    /// row that has a record; the handler may set it.
    public var databaseIdentifier: String?

    /// The values before the change, by key; a value that was absent is nil. Set by the handler, and passed to the
    /// merge block.
    public var originalValues: [String: (any CKRecordValueProtocol)?] = [:]

    /// The extension's `versionInfo` while the handler is called for all rows at a registration; else nil.
    public let versionInfo: (any Sendable)?

    /// The previous version tag while the handler is called for all rows; nil at the first registration.
    ///
    /// Set only the fields that the previous version didn't sync. Values of other fields were queued when they changed,
    /// and may be older by now than another device's values; see `hasMissedChanges`.
    public let previousVersionTag: String?

    /// All former version tags while the handler is called for all rows. Includes the current tag if its version was
    /// registered before.
    let formerVersionTags: [String]

    /// True if the handler is called for all rows because rows changed while the extension was not registered. The
    /// changes are unknown, so set all values of the row, without original values.
    public let hasMissedChanges: Bool

    /// The row's object before this change. Compare it with the new one to find the changed keys. Nil for a new row,
    /// for a change of the metadata alone, for a touch, and while the handler is called for all rows.
    public let previousObject: (any Sendable)?

    /// Keys of queued values that are read again, for example after a relaunch. Set exactly these, from the current
    /// object. Nil while a change is recorded.
    public internal(set) var keysToRestore: Set<String>?

    /// Fields that a model's map sets in place of the record's values, so that no record is filled and read again.
    var fields: (changed: [String: Field], originals: [String: Field])?

    init(
        databaseIdentifier: String?, versionInfo: (any Sendable)? = nil, previousVersionTag: String? = nil,
        formerVersionTags: [String] = [], hasMissedChanges: Bool = false,
        previousObject: (any Sendable)? = nil
    ) {
        self.databaseIdentifier = databaseIdentifier
        self.versionInfo = versionInfo
        self.previousVersionTag = previousVersionTag
        self.formerVersionTags = formerVersionTags
        self.hasMissedChanges = hasMissedChanges
        self.previousObject = previousObject
    }
}
