public import CloudKit
internal import CloudWire

/// What the record handler is told, and what it may answer beside the record.
public final class YDBCKRecordInfo {
    /// Which cloud database the record belongs to; nil is the private database of the default container.
    /// Preset for a row that has a record; the handler may set it.
    public var databaseIdentifier: String?

    /// The values before the change, by key; a value that was absent is nil. The handler sets it, the merge
    /// gets it.
    public var originalValues: [String: (any CKRecordValueProtocol)?] = [:]

    /// The extension's `versionInfo`, only while all rows are walked at a registration.
    public let versionInfo: (any Sendable)?

    /// The version tag that was registered before, while all rows are walked; nil at the first registration.
    ///
    /// Set only what that version didn't sync. What a row holds of other fields was queued when it was changed, and may
    /// be older by now than what another device has set or cleared; see `hasMissedChanges`.
    public let previousVersionTag: String?

    /// The version tags that were registered before, while all rows are walked. The current one is among them when its
    /// version is back.
    let formerVersionTags: [String]

    /// Whether rows were changed while the extension was not registered, and all rows are walked for it. Then it isn't
    /// known what changed, and everything that a row holds has to be set, without original values.
    public let hasMissedChanges: Bool

    /// The object that the row held before this change; nil for a new row, for a change of the metadata
    /// alone, for a touch, and while all rows are walked. Comparing it with the new one gives the changed
    /// keys.
    public let previousObject: (any Sendable)?

    /// Keys with values that are needed again, after a relaunch: set exactly these, from the object as it is now.
    /// Nil while a change is recorded.
    public internal(set) var keysToRestore: Set<String>?

    /// What a model's map says instead of the record's changed values: from an object to the queue no record need be
    /// filled and taken apart again.
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
