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
/// the view too. `setFilter(version:_:)` changes the filter while the app runs; a view with which it is called belongs
/// to one open database.
public final class YapDatabaseFilteredView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, VersionSetting,
    @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// The class's name in the file, whatever the types of its objects and groups.
    override public class var className: String { "YapDatabaseFilteredView" }
    /// Places depend on the row and on the parent, which catches up before.
    override public class var catchesUp: Bool { true }

    private let setting: ViewFilterSetting<Object, Group>

    /// Describes a view whose filter depends on the group and the object.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - parent: The view to filter, in the version in which it is registered. With another version of the parent,
    ///     the view is filled anew.
    ///   - version: Change it whenever `filter` decides in another way: the view is then filled anew.
    ///   - filter: Returns true if the view has the row. It depends on its arguments alone: it is called when the row
    ///     is written or placed in the parent, and not again.
    public convenience init(
        _ name: String, of parent: YapDatabaseView<Object, Group>, version: String,
        filter: @escaping @Sendable (_ group: Group, _ object: Object) -> Bool
    ) {
        self.init(
            name, of: parent, version: version, filterByKey: { group, _, object in filter(group, object) })
    }

    /// Describes a view whose filter depends on the key as well. Parameters as in the other form.
    public init(
        _ name: String, of parent: YapDatabaseView<Object, Group>, version: String,
        filterByKey filter: @escaping @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    ) {
        let parent = ViewParent(view: parent)
        let tag = ViewFilter.versionTag(version, of: parent)
        setting = ViewFilterSetting(.init(versionTag: tag, isIncluded: filter))
        super.init(
            name, collection: parent.view.collection, versionTag: tag,
            placement: ViewFilter(parent: parent, setting: setting), parentName: parent.view.name)
    }

    func isSetting(_ tag: String) -> Bool { setting.isPending(tag) }

    func join(_ log: CommitLog) throws {
        guard setting.join(log) else { throw ViewFilterSetting<Object, Group>.mistake(ofSharing: self) }
    }

    func leave(_ log: CommitLog) { setting.leave(log) }
}
