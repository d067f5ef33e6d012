/// An ordered list of the rows of one collection, in groups. Start with `YapDatabaseAutoView`.
///
/// A view is updated with each write in the same transaction, which sees the result. Read its rows with
/// `YapDatabaseViewTransaction`, and observe them with `connection.changes(of:)`.
public class YapDatabaseView<Object: Sendable, Group: YapDatabaseViewGroup>: YapDatabaseNamedExtension,
    @unchecked Sendable  // Subclasses in this module have only `let` properties of Sendable types.
{
    /// Class name in the file, independent of the types of objects and groups.
    public class var className: String { "YapDatabaseView" }
    /// Version of the tables.
    public class var classVersion: Int { 1 }
    /// Its transactions record the groups that are read.
    public static var notesReads: Bool { true }
    /// True if rows that were written without the view can be placed later.
    public class var catchesUp: Bool { false }

    /// Name of the view in transactions and in the file.
    public let name: String
    /// Collection of the rows.
    public let collection: String
    /// The app's version, and a description of the view.
    public var versionTag: String { placement.setting?.currentVersionTag ?? describedVersionTag }
    /// The same in the current write transaction, which may have set another one.
    var newestVersionTag: String { placement.setting?.newestVersionTag ?? describedVersionTag }
    private let describedVersionTag: String

    let placement: any ViewPlacement<Object, Group>
    /// Name of the parent view, or nil.
    let parentName: String?

    init(
        _ name: String, collection: String, versionTag: String,
        placement: any ViewPlacement<Object, Group>, parentName: String? = nil
    ) {
        self.name = name
        self.collection = collection
        describedVersionTag = versionTag
        self.placement = placement
        self.parentName = parentName
    }

    /// The parent view, if there is one.
    public var dependencies: [String] { parentName.map { [$0] } ?? [] }

    /// The collection of the rows.
    public var collections: [String]? { [collection] }

    /// Returns the tables of entries, groups and pages.
    public func tableNames(registeredName: String) -> [String] { ViewSQL.tableNames(registeredName) }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseViewConnection<Object, Group> {
        YapDatabaseViewConnection(self, ViewSQL(name: registeredName, storesKeys: placement.storesKeys))
    }
}

extension YapDatabaseView: VersionSetting {
    var catchesUp: Bool { type(of: self).catchesUp && placement.catchesUp }

    func isVersion(_ tag: String, at snapshot: UInt64) -> Bool {
        placement.setting?.isVersion(tag, at: snapshot) ?? (tag == versionTag)
    }

    func join(_ log: CommitLog) throws {
        if placement.setting?.join(log) == false { throw sharingMistake }
    }

    func leave(_ log: CommitLog) { placement.setting?.leave(log) }

    /// Error thrown when one of several open databases that share the view sets its closures.
    var sharingMistake: YapDatabaseError {
        YapDatabaseError(
            .invalidExtension,
            "several open databases share the view \"\(name)\", and one changes it: describe one for each",
            collection: collection)
    }
}

/// A view at one SQLite handle: the names of its groups, and its SQL texts.
public final class YapDatabaseViewConnection<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseExtensionConnection
{
    let view: YapDatabaseView<Object, Group>
    let sql: ViewSQL
    let names = ViewGroupNames<Group>()

    init(_ view: YapDatabaseView<Object, Group>, _ sql: ViewSQL) {
        self.view = view
        self.sql = sql
    }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        view.placement.makePart(self, transaction, tables)
    }

    /// Updates the groups that a commit created and removed.
    public func apply(_ changes: any Sendable) {
        guard let changes = changes as? ViewChanges<Group> else { return }
        names.apply(changes)
    }

    /// Drops the cached groups.
    public func dropCaches() { names.drop() }
}
