/// An ordered list of the rows of one collection, in groups. `YapDatabaseAutoView` is the one to begin with.
///
/// A view follows each write inside the transaction, so that the same transaction sees it. Its rows are read with
/// `YapDatabaseViewTransaction`, and observed with `connection.changes(of:)`.
public class YapDatabaseView<Object: Sendable, Group: YapDatabaseViewGroup>: YapDatabaseNamedExtension,
    @unchecked Sendable  // Subclasses in this module have only `let` properties of Sendable types.
{
    /// The class's name in the file, whatever the types of its objects and groups.
    public class var className: String { "YapDatabaseView" }
    /// The version of the tables.
    public class var classVersion: Int { 1 }
    /// Its transactions note the groups that are read.
    public static var notesReads: Bool { true }
    /// Whether rows that were written without the view can be placed afterwards.
    public class var catchesUp: Bool { false }

    /// What it is reached by in transactions, and known by in the file.
    public let name: String
    /// The collection that it is over.
    public let collection: String
    /// The version that the app gave, with what the view is made of.
    public var versionTag: String { placement.setting?.currentVersionTag ?? describedVersionTag }
    /// The same in the transaction that writes, which may have set another one.
    var newestVersionTag: String { placement.setting?.newestVersionTag ?? describedVersionTag }
    private let describedVersionTag: String

    let placement: any ViewPlacement<Object, Group>
    /// Name of the view on whose places this one's depend, or nil.
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

    /// The parent view, or none.
    public var dependencies: [String] { parentName.map { [$0] } ?? [] }

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The tables of entries, groups and pages.
    public func tableNames(registeredName: String) -> [String] { ViewSQL.tableNames(registeredName) }

    /// The view at one SQLite handle.
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

    /// The error when one of several open databases that share the view sets its closures.
    var sharingMistake: YapDatabaseError {
        YapDatabaseError(
            .invalidExtension,
            "several open databases share the view \"\(name)\", and one changes it: describe one for each",
            collection: collection)
    }
}

/// A view at one SQLite handle: the names of its groups, and the texts of its statements.
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

    /// The view in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        view.placement.makePart(self, transaction, tables)
    }

    /// Follows the groups that a commit made and removed.
    public func apply(_ changes: any Sendable) {
        guard let changes = changes as? ViewChanges<Group> else { return }
        names.apply(changes)
    }

    /// Forgets the groups.
    public func dropCaches() { names.drop() }
}
