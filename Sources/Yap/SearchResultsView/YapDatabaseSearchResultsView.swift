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
/// It is empty until `search(_:)` is called. From then on it follows each write, as every view: a row that the query
/// finds is added, one that it doesn't find any more leaves. Another search replaces the rows, and those that both find
/// stay.
///
/// The parent can be any view. Register it and the search before. Unregistering one of them unregisters the view too.
public final class YapDatabaseSearchResultsView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// The class's name in the file, whatever the types of its objects and groups.
    override public class var className: String { "YapDatabaseSearchResultsView" }
    /// Places depend on the row, the query, and on the parent and the search, which catch up before.
    override public class var catchesUp: Bool { true }

    private let searchName: String

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - parent: The view whose rows are searched, in the version in which it is registered.
    ///   - search: The search that finds the rows, of the parent's collection, in its registered version. For queries
    ///     with `.prefix`, give it prefix indexes: see `search(_:)`.
    ///   - isPersistent: Whether query and rows stay when the view is registered again, by the next run of the app for
    ///     example. Another version of the parent or of the search empties the view all the same. Default: false.
    ///     Each registration then empties the view, also the one of another process that uses the file.
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

    /// The tables of entries, groups and pages, and the query's.
    override public func tableNames(registeredName: String) -> [String] {
        super.tableNames(registeredName: registeredName) + [ViewSQL.queryTableName(registeredName)]
    }
}

extension YapDatabaseReadTransaction {
    /// A view of search results in this transaction, with its query and excerpts.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`: it isn't registered, or can't be read now.
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
