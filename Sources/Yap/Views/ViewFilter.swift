/// Places the rows of a parent view that satisfy a condition where the parent has them.
struct ViewFilter<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    let parent: ViewParent<Object, Group>
    let isIncluded: @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool

    func place(
        _ row: YapDatabaseRowIdentity, _ object: Object, in part: YapDatabaseViewTransaction<Object, Group>
    ) throws -> ViewPlace<Group> {
        guard let place = try parent.place(row.rowID, in: part), isIncluded(place.group, row.key, object)
        else { return .outside }
        return .at(group: place.group, sort: place.sort)
    }

    var catchesUp: Bool { true }

    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        try parent.check(part)
        if isCurrent, missed != .unknown { return .isUnchanged }
        try part.table.create()
        return .isEmpty
    }
}
