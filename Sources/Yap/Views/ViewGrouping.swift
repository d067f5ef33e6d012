/// Places rows by closures over their keys, objects and metadata.
struct ViewGrouping<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    /// The closure that returns the group of a row.
    struct Closure: Sendable {
        /// Type of the metadata that the closure receives, or nil.
        var metadataType: (any Sendable.Type)?
        let group: @Sendable (_ key: String, _ object: Object, _ metadata: (any Sendable)?) -> Group?

        init(_ group: @escaping @Sendable (_ key: String, _ object: Object) -> Group?) {
            self.group = { key, object, _ in group(key, object) }
        }

        init<Metadata: Sendable>(
            _ group: @escaping @Sendable (_ key: String, _ object: Object, _ metadata: Metadata?) -> Group?
        ) {
            metadataType = Metadata.self
            self.group = { group($0, $1, $2 as? Metadata) }
        }
    }

    /// The grouping closure and the sorts. A transaction can replace them.
    struct Rule: VersionedRule {
        let versionTag: String
        let metadataTypes: [any Sendable.Type]
        let closure: Closure
        /// True if rows are placed by comparing them with others.
        let isCompared: Bool
        private let sort: [YapDatabaseViewSort<Object>]

        /// - Parameter version: The app's version.
        init(
            _ version: String, collection: String, _ closure: Closure, _ sort: [YapDatabaseViewSort<Object>]
        ) {
            let shape = YapDatabaseViewSort<Object>.shape(sort)
            versionTag = "\(version);\(collection);\(Group.self);\(shape)"
            metadataTypes = ([closure.metadataType] + sort.map(\.metadataType)).compactMap(\.self)
            self.closure = closure
            self.sort = sort
            isCompared = sort.contains(where: \.isComparison)
        }

        /// Returns the group of a row and the row to sort, or nil if it isn't part of the view.
        func member(_ row: ViewRow<Object>) throws -> (group: Group, row: ViewSortRow<Object>)? {
            let metadata = metadataTypes.isEmpty ? nil : try row.readMetadata()
            guard let group = closure.group(row.identity.key, row.object, metadata) else { return nil }
            return (group, ViewSortRow(row.identity, row.object, metadata))
        }

        /// Returns the sort key of a row. Not used by a rule that compares.
        func sortKey(_ row: ViewSortRow<Object>) throws -> [UInt8] {
            try YapDatabaseViewSort.key(row, sort)
        }

        /// Returns true if the first row precedes the second one in a group.
        func precedes(_ first: ViewSortRow<Object>, _ second: ViewSortRow<Object>) throws -> Bool {
            try YapDatabaseViewSort.precedes(first, second, sort)
        }
    }

    let rules: ViewSetting<Rule>

    var setting: (any ViewSettings)? { rules }
    var metadataTypes: [any Sendable.Type] { rules.newest.metadataTypes }
    /// Compared rows would be placed among rows with keys of their old objects.
    var catchesUp: Bool { !rules.newest.isCompared }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseAutoViewTransaction(self, connection, transaction, tables)
    }

    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) throws
        -> ViewPlace<Group>
    {
        let rule = rules.newest
        guard let member = try rule.member(row) else { return .outside }
        let sort =
            rule.isCompared
            ? try part.orderKey(of: member.row, in: member.group, rule.precedes)
            : try rule.sortKey(member.row)
        return .at(group: member.group, sort: sort)
    }
}
