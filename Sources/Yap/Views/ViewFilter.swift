/// Places the rows of a parent view that satisfy a condition where the parent has them.
struct ViewFilter<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    let parent: YapDatabaseView<Object, Group>
    let isIncluded: @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool

    func place(
        _ row: YapDatabaseRowIdentity, _ object: Object, in part: YapDatabaseViewTransaction<Object, Group>
    ) throws -> ViewPlace<Group> {
        // The parent is a dependency, so its hooks have run: it has the row's new place.
        let table = try parentPart(of: part).table
        guard let entry = try table.entry(row.rowID) else { return .outside }
        let group = try table.group(entry.groupID)
        return isIncluded(group, row.key, object) ? .at(group: group, sort: entry.sort) : .outside
    }

    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        let registered = try parentPart(of: part).view
        guard registered.versionTag == parent.versionTag, type(of: registered) == type(of: parent) else {
            throw YapDatabaseError(
                .invalidExtension,
                "the parent view \"\(parent.name)\" of \"\(part.view.name)\" is registered with another version"
            )
        }
        if isCurrent, missed == .none { return .isUnchanged }
        try part.table.create()
        return .isEmpty
    }

    private func parentPart(of part: YapDatabaseViewTransaction<Object, Group>) throws
        -> YapDatabaseViewTransaction<Object, Group>
    {
        if let parent = part.parent { return parent }
        throw YapDatabaseError(
            .invalidExtension,
            "the extension \"\(parent.name)\" isn't the parent view of \"\(part.view.name)\"")
    }
}
