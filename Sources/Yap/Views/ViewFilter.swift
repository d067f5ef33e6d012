/// Places the rows of a parent view that satisfy a condition at the parent's places.
struct ViewFilter<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    /// The condition. A transaction can replace it.
    struct Rule: VersionedRule {
        let versionTag: String
        let metadataTypes: [any Sendable.Type]
        private let isIncluded:
            @Sendable (_ group: Group, _ key: String, _ object: Object, _ metadata: (any Sendable)?) -> Bool

        init(
            _ versionTag: String,
            _ isIncluded: @escaping @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
        ) {
            self.versionTag = versionTag
            metadataTypes = []
            self.isIncluded = { group, key, object, _ in isIncluded(group, key, object) }
        }

        init<Metadata: Sendable>(
            _ versionTag: String,
            _ isIncluded:
                @escaping @Sendable (
                    _ group: Group, _ key: String, _ object: Object, _ metadata: Metadata?
                ) -> Bool
        ) {
            self.versionTag = versionTag
            metadataTypes = [Metadata.self]
            self.isIncluded = { isIncluded($0, $1, $2, $3 as? Metadata) }
        }

        func includes(_ row: ViewRow<Object>, in group: Group) throws -> Bool {
            let metadata = metadataTypes.isEmpty ? nil : try row.readMetadata()
            return isIncluded(group, row.identity.key, row.object, metadata)
        }
    }

    let parent: ViewParent<Object, Group>
    let rules: ViewSetting<Rule>

    var setting: (any ViewSettings)? { rules }
    var metadataTypes: [any Sendable.Type] { rules.newest.metadataTypes }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseFilteredViewTransaction(self, connection, transaction, tables)
    }

    /// Returns the version tag of a filter. Another parent, or another version of it, makes another view.
    static func versionTag(_ version: String, of parent: ViewParent<Object, Group>) -> String {
        "\(version);\(parent.versionTag)"
    }

    /// Returns the version tag of a filter that a transaction sets.
    func versionTag(_ version: String) -> String { "\(version);\(parent.newestVersionTag)" }

    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) throws
        -> ViewPlace<Group>
    {
        guard let place = try parent.place(row.identity.rowID, in: part),
            try rules.newest.includes(row, in: place.group)
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
