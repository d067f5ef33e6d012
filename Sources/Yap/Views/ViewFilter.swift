/// Places the rows of a parent view that satisfy a condition where the parent has them.
struct ViewFilter<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    let parent: ViewParent<Object, Group>
    let setting: ViewFilterSetting<Object, Group>

    var setVersionTag: String? { setting.current.versionTag }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseFilteredViewTransaction(self, connection, transaction, tables)
    }

    /// The version tag of a filter: another parent, or another version of it, makes another view.
    static func versionTag(_ version: String, of parent: ViewParent<Object, Group>) -> String {
        "\(version);\(parent.versionTag)"
    }

    func versionTag(_ version: String) -> String { Self.versionTag(version, of: parent) }

    func place(
        _ row: YapDatabaseRowIdentity, _ object: Object, in part: YapDatabaseViewTransaction<Object, Group>
    ) throws -> ViewPlace<Group> {
        guard let place = try parent.place(row.rowID, in: part),
            setting.newest.isIncluded(place.group, row.key, object)
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
