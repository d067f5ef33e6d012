/// What an extension registered under the same name stored when it was last registered.
public struct YapDatabaseExtensionRegistration: Sendable, Equatable {
    /// The most rows in one call of `fill(_:)`.
    public static let filledRowsMax = 500

    /// The `classVersion` then.
    public let classVersion: Int
    /// The `versionTag` then.
    public let versionTag: String
    /// Which rows were written since while the extension was not registered.
    public let missedChanges: MissedChanges

    /// Whether rows were written since while the extension was not registered, so that its tables may be
    /// behind.
    public var hasMissedCommits: Bool { missedChanges != .none }

    /// Whether the tables are as this version wants them, and lack only changes that are known.
    func isCurrent(_ versionTag: String, classVersion: Int) -> Bool {
        self.versionTag == versionTag && self.classVersion == classVersion && missedChanges != .unknown
    }

    /// Which rows were written while an extension was not registered.
    public enum MissedChanges: Sendable {
        /// No rows.
        case none
        /// Some rows, all of which are logged. If `register(previous:)` returns `isUnchanged`, the extension catches
        /// up. Only if the class has `catchesUp`.
        case known
        /// Any rows: the extension did not register again in time, or can't catch up.
        case unknown
    }
}

/// What an extension's tables have when `register(previous:)` returns.
public enum YapDatabaseExtensionContent: Sendable {
    /// Everything that they need. No row is handed over.
    case isComplete
    /// Nothing: all rows of the extension's collections are handed to `fill(_:)`.
    case isEmpty
    /// What they had. If they were being filled then, the rest of the rows is handed to `fill(_:)`. If the extension's
    /// `missedChanges` are `known`, it catches up: each row that changed is handed to `didChange(.remove(…))`, and to
    /// `fill(_:)` if it still exists.
    case isUnchanged
}

/// A row as it is stored.
public struct YapDatabaseStoredRow: Sendable {
    /// Its rowid, collection and key.
    public let identity: YapDatabaseRowIdentity
    /// Its object.
    public let object: any Sendable
    /// Its metadata, if it has any and their type is registered.
    public let metadata: (any Sendable)?
}
