/// A subset of a parent view, with the same groups and order.
///
/// ```swift
/// let urgent = YapDatabaseFilteredView("urgent", of: open, version: "1") { _, todo in todo.priority >= 3 }
/// try await database.register(open)
/// try await database.register(urgent)
/// let rows = try await connection.read { try $0[urgent].rows(in: "home") }
/// ```
///
/// The parent can be any view, also a filtered one. Register the parent first. Unregistering the parent unregisters
/// the view too. `setFilter(version:_:)` changes the filter while the app runs. A view on which it is called belongs
/// to one open database.
public final class YapDatabaseFilteredView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// Class name in the file, independent of the types of objects and groups.
    override public class var className: String { "YapDatabaseFilteredView" }
    /// Places depend on the row and on the parent, which catches up or is filled before.
    override public class var catchesUp: Bool { true }

    /// Describes a view with a filter that depends on the group and the object.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - parent: The view to filter, in its registered version. If the parent's version changes, the view is filled
    ///     again.
    ///   - version: Change it whenever `filter` would decide differently. The view is then filled again.
    ///   - filter: Returns true for rows of the view. It must depend on its arguments only. Called when the row is
    ///     written, and when the parent moves it.
    public convenience init(
        _ name: String, of parent: YapDatabaseView<Object, Group>, version: String,
        filter: @escaping @Sendable (_ group: Group, _ object: Object) -> Bool
    ) {
        self.init(
            name, of: parent, version: version, filterByKey: { group, _, object in filter(group, object) })
    }

    /// Describes a view with a filter that depends on the key as well. Parameters: see the first form.
    public convenience init(
        _ name: String, of parent: YapDatabaseView<Object, Group>, version: String,
        filterByKey filter: @escaping @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    ) {
        self.init(name, of: ViewParent(view: parent), version: version) { ViewFilter.Rule($0, filter) }
    }

    /// Describes a view with a filter that depends on the metadata as well. Writes that change only the metadata
    /// update it too.
    ///
    /// ```swift
    /// let recent = YapDatabaseFilteredView("recent", of: open, metadata: NoteInfo.self, version: "1") {
    ///     _, _, _, info in info?.openedAt ?? .distantPast > monday
    /// }
    /// ```
    ///
    /// Registering throws `missingRegistration` or `typeMismatch` if the collection's metadata isn't registered with
    /// this type. For the other parameters see the first form.
    ///
    /// - Parameters:
    ///   - name: Name under which it is registered.
    ///   - parent: The view of which the rows are taken.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - filter: Returns true for rows that are part of the view.
    public convenience init<Metadata: Sendable>(
        _ name: String, of parent: YapDatabaseView<Object, Group>, metadata: Metadata.Type, version: String,
        filter:
            @escaping @Sendable (
                _ group: Group, _ key: String, _ object: Object, _ metadata: Metadata?
            ) -> Bool
    ) {
        self.init(name, of: ViewParent(view: parent), version: version) { ViewFilter.Rule($0, filter) }
    }

    private init(
        _ name: String, of parent: ViewParent<Object, Group>, version: String,
        _ rule: (_ versionTag: String) -> ViewFilter<Object, Group>.Rule
    ) {
        let rule = rule(ViewFilter.versionTag(version, of: parent))
        super.init(
            name, collection: parent.view.collection, versionTag: rule.versionTag,
            placement: ViewFilter(parent: parent, rules: ViewSetting(rule)), parentName: parent.view.name)
    }
}
