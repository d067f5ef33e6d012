/// A view that keeps itself: closures say in which group a row is, and what the groups are sorted by.
///
/// ```swift
/// let open = YapDatabaseAutoView("open", of: Todo.self, in: "todos", version: "1",
///     group: { $0.isDone ? nil : $0.list },
///     sort: [.by(\.priority, .descending), .by(\.title)])
/// try await database.register(open)
/// let top = try await connection.read { try $0[open].rows(in: "home", 0..<20) }
/// for try await change in connection.changes(of: open) { sections.apply(change) }
/// ```
///
/// Sort keys are stored, so sorting runs no code of the app: a write costs the same few statements in a group of ten
/// rows and of a million.
public final class YapDatabaseAutoView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// The class's name in the file, whatever the types of its objects and groups.
    override public class var className: String { "YapDatabaseAutoView" }
    /// Places depend on the rows alone.
    override public class var catchesUp: Bool { true }

    /// Describes a view whose groups depend on the objects.
    ///
    /// - Parameters:
    ///   - name: What it is known by in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it whenever `group` or `sort` decide in another way: the view is then filled anew.
    ///   - group: Returns the group of an object; nil for one that is no part of the view. It depends on its argument
    ///     alone: it is called when the row is written, and not again.
    ///   - sort: What each group is sorted by. Without it, rows are in the order in which they were inserted.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        group: @escaping @Sendable (_ object: Object) -> Group?, sort: [YapDatabaseViewSort<Object>] = []
    ) {
        self.init(
            name, of: type, in: collection, version: version, groupByKey: { group($1) }, sort: sort)
    }

    /// Describes a view whose groups depend on the keys as well. Parameters as in the other form.
    public init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        groupByKey group: @escaping @Sendable (_ key: String, _ object: Object) -> Group?,
        sort: [YapDatabaseViewSort<Object>] = []
    ) {
        let shape = YapDatabaseViewSort<Object>.shape(sort)
        super.init(
            name, collection: collection, versionTag: "\(version);\(collection);\(Group.self);\(shape)",
            placement: ViewGrouping(group: group, sort: sort))
    }
}

/// Places rows by what closures compute of their keys and objects.
private struct ViewGrouping<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    let group: @Sendable (_ key: String, _ object: Object) -> Group?
    let sort: [YapDatabaseViewSort<Object>]

    var catchesUp: Bool { true }

    func place(
        _ row: YapDatabaseRowIdentity, _ object: Object, in part: YapDatabaseViewTransaction<Object, Group>
    ) -> ViewPlace<Group> {
        guard let group = group(row.key, object) else { return .outside }
        return .at(group: group, sort: YapDatabaseViewSort.key(of: object, sort))
    }
}
