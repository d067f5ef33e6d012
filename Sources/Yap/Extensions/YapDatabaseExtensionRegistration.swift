/// Stored state of the last registration under the same name.
public struct YapDatabaseExtensionRegistration: Sendable, Equatable {
    /// Maximum rows in one call of `fill(_:)`.
    public static let filledRowsMax = 500

    /// The stored `classVersion`.
    public let classVersion: Int
    /// The stored `versionTag`.
    public let versionTag: String
    /// Rows that were written since while the extension wasn't registered.
    public let missedChanges: MissedChanges

    /// True if rows were written since while the extension wasn't registered, so that its tables may be behind.
    public var hasMissedCommits: Bool { missedChanges != .none }

    /// Returns true if the tables are those of this version, and lack only known changes.
    func isCurrent(_ versionTag: String, classVersion: Int) -> Bool {
        self.versionTag == versionTag && self.classVersion == classVersion && missedChanges != .unknown
    }

    /// Rows that were written while an extension wasn't registered.
    public enum MissedChanges: Sendable {
        /// No rows.
        case none
        /// Some rows, all of which are logged. If `register(previous:)` returns `isUnchanged`, the extension catches
        /// up. Only if the class has `catchesUp`.
        case known
        /// Any rows: the extension was not registered again in time, or can't catch up.
        case unknown
    }
}

/// Content of an extension's tables when `register(previous:)` returns.
public enum YapDatabaseExtensionContent: Sendable {
    /// Everything they need. No row is handed over.
    case isComplete
    /// Nothing. All rows of the extension's collections are handed to `fill(_:)`.
    case isEmpty
    /// Their previous content. If they were being filled, the remaining rows are handed to `fill(_:)`. If the
    /// extension's `missedChanges` are `known`, it catches up: each changed row is passed to `didChange(.remove(…))`,
    /// and to `fill(_:)` if it still exists.
    case isUnchanged
}

/// A stored row.
public struct YapDatabaseStoredRow: Sendable {
    /// Its rowid, collection and key.
    public let identity: YapDatabaseRowIdentity
    /// Its object.
    public let object: any Sendable
    /// Its metadata, if it has any and the type is registered.
    public let metadata: (any Sendable)?
}
