import SQLite

/// A view of the rows of a parent view that a full-text search finds, with the parent's groups and order.
///
/// ```swift
/// let found = YapDatabaseSearchResultsView("found", of: open, matching: text)
/// try await database.register(found)
/// try await connection.readWrite { try $0[found].search(.prefix(typed)) }
/// for try await change in connection.changes(of: found) { list.apply(change) }
/// ```
///
/// It is empty until `search(_:)` is called. From then on each write updates it, as with every view: rows that match
/// the query are added, and rows that no longer match are removed. Another search replaces the rows; those that both
/// find stay.
///
/// The parent can be any view. Register it and the search before. Unregistering one of them unregisters the view too.
public final class YapDatabaseSearchResultsView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// Class name in the file, independent of the types of objects and groups.
    override public class var className: String { "YapDatabaseSearchResultsView" }
    /// Places depend on the row, the query, and on the parent and the search, which catch up before.
    override public class var catchesUp: Bool { true }

    private let searchName: String

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - parent: The view to search, in its registered version.
    ///   - search: The search that finds the rows, of the parent's collection, in its registered version. For queries
    ///     with `.prefix`, give it prefix indexes: see `search(_:)`.
    ///   - isPersistent: Whether query and rows are kept when the view is registered again, for example by the next
    ///     run of the app. Another version of the parent or of the search empties the view anyway. Default: false.
    ///     Each registration then empties the view, also for other processes that use the file.
    public init(
        _ name: String, of parent: YapDatabaseView<Object, Group>,
        matching search: YapDatabaseFullTextSearch<Object>, isPersistent: Bool = false
    ) {
        searchName = search.name
        let parent = ViewParent(view: parent)
        super.init(
            name, collection: parent.view.collection,
            versionTag: "\(isPersistent);\(parent.versionTag);\(search.name);\(search.versionTag)",
            placement: ViewSearch(parent: parent, search: search, isPersistent: isPersistent),
            parentName: parent.view.name)
    }

    /// The parent view and the search.
    override public var dependencies: [String] { super.dependencies + [searchName] }

    /// Returns the tables of entries, groups and pages, and the table of the query.
    override public func tableNames(registeredName: String) -> [String] {
        super.tableNames(registeredName: registeredName) + [ViewSQL.queryTableName(registeredName)]
    }
}

extension YapDatabaseReadTransaction {
    /// Returns the transaction of a view of search results, with its query and excerpts.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered, or can't be read now.
    public final subscript<Object: Sendable, Group: YapDatabaseViewGroup>(
        view: YapDatabaseSearchResultsView<Object, Group>
    ) -> YapDatabaseSearchResultsViewTransaction<Object, Group> {
        get throws {
            let part = try ext(view.name, as: YapDatabaseSearchResultsView<Object, Group>.self)
            if let part = part as? YapDatabaseSearchResultsViewTransaction<Object, Group> { return part }
            throw YapDatabaseError(
                .extensionNotRegistered, "\"\(view.name)\" isn't a view of search results")
        }
    }
}
