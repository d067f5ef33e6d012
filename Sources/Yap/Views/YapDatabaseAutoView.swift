/// A view that is updated automatically: closures return the group of a row and the values to sort by.
///
/// ```swift
/// let open = YapDatabaseAutoView(
///     "open", of: Todo.self, in: "todos", version: "1",
///     group: { $0.isDone ? nil : $0.list },
///     sort: [.by(\.priority, .descending), .by(\.title)])
/// try await database.register(open)
/// let top = try await connection.read { try $0[open].rows(in: "home", 0..<20) }
/// for try await change in connection.changes(of: open) { sections.apply(change) }
/// ```
///
/// Sort keys are stored, so sorting runs no code of the app: a write takes the same few statements in a group of ten
/// rows and of a million. A sort that compares rows (`YapDatabaseViewSort.by(areInIncreasingOrder:)`) reads some of
/// them for each row that it places.
///
/// `setGrouping(version:sort:_:)` and `setSort(version:_:)` change groups and order while the app runs. A view on
/// which one of them is called belongs to one open database.
public final class YapDatabaseAutoView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// Class name in the file, independent of the types of objects and groups.
    override public class var className: String { "YapDatabaseAutoView" }
    /// Places depend on the rows only, unless a sort compares them.
    override public class var catchesUp: Bool { true }

    /// Describes a view with groups that depend on the objects.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it whenever `group` or `sort` would decide differently. The view is then filled again.
    ///   - group: Returns the group of an object, or nil if it isn't part of the view. It must depend on its argument
    ///     only. Called when the row is written, and when a transaction sets another order.
    ///   - sort: Values to sort each group by. Default: the order of insertion.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        group: @escaping @Sendable (_ object: Object) -> Group?, sort: [YapDatabaseViewSort<Object>] = []
    ) {
        self.init(
            name, of: type, in: collection, version: version, groupByKey: { group($1) }, sort: sort)
    }

    /// Describes a view with groups that depend on the keys as well. Parameters: see the first form.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        groupByKey group: @escaping @Sendable (_ key: String, _ object: Object) -> Group?,
        sort: [YapDatabaseViewSort<Object>] = []
    ) {
        self.init(name, in: collection, .init(version, collection: collection, .init(group), sort))
    }

    /// Describes a view with groups that depend on the metadata as well. Writes that change only the metadata update
    /// it too.
    ///
    /// ```swift
    /// let downloads = YapDatabaseAutoView(
    ///     "downloads", of: Note.self, metadata: NoteInfo.self, in: "notes", version: "1",
    ///     group: { _, note, info in info == nil ? nil : note.folder },
    ///     sort: [.by(metadata: \NoteInfo.downloadedAt, .descending)])
    /// ```
    ///
    /// Registering throws `missingRegistration` or `typeMismatch` if the collection's metadata isn't registered with
    /// this type. For the other parameters see the first form.
    ///
    /// - Parameters:
    ///   - name: Name under which it is registered.
    ///   - type: Type of the objects.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - collection: Collection of the objects.
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - group: Returns the group of a row. Its metadata is nil if it has none.
    ///   - sort: The order, by the first element first.
    public convenience init<Metadata: Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, in collection: String, version: String,
        group: @escaping @Sendable (_ key: String, _ object: Object, _ metadata: Metadata?) -> Group?,
        sort: [YapDatabaseViewSort<Object>] = []
    ) {
        self.init(name, in: collection, .init(version, collection: collection, .init(group), sort))
    }

    private init(_ name: String, in collection: String, _ rule: ViewGrouping<Object, Group>.Rule) {
        super.init(
            name, collection: collection, versionTag: rule.versionTag,
            placement: ViewGrouping(rules: ViewSetting(rule)))
    }
}

extension YapDatabaseReadWriteTransaction {
    /// Returns the transaction of a view, with the methods that set other groups and another order.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered, or can't be read now.
    public subscript<Object: Sendable, Group: YapDatabaseViewGroup>(
        view: YapDatabaseAutoView<Object, Group>
    ) -> YapDatabaseAutoViewTransaction<Object, Group> {
        get throws {
            let part = try ext(view.name, as: YapDatabaseAutoView<Object, Group>.self)
            if let part = part as? YapDatabaseAutoViewTransaction<Object, Group> { return part }
            throw YapDatabaseError(
                .extensionNotRegistered, "\"\(view.name)\" isn't a view that keeps itself")
        }
    }
}
