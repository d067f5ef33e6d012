/// Places rows by what closures compute of their keys, objects and metadata.
struct ViewGrouping<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    /// The closure that returns the group of a row.
    struct Closure: Sendable {
        /// The type of the metadata that it gets, or nil.
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

    /// The closure with the sorts, which a transaction can replace.
    struct Rule: VersionedRule {
        let versionTag: String
        let metadataTypes: [any Sendable.Type]
        let closure: Closure
        private let sort: [YapDatabaseViewSort<Object>]

        /// - Parameter version: The version that the app gives.
        init(
            _ version: String, collection: String, _ closure: Closure, _ sort: [YapDatabaseViewSort<Object>]
        ) {
            let shape = YapDatabaseViewSort<Object>.shape(sort)
            versionTag = "\(version);\(collection);\(Group.self);\(shape)"
            metadataTypes = ([closure.metadataType] + sort.map(\.metadataType)).compactMap(\.self)
            self.closure = closure
            self.sort = sort
        }

        /// Returns where a row belongs, or nil if it isn't part of the view.
        func place(_ row: ViewRow<Object>) throws -> (group: Group, sort: [UInt8])? {
            let metadata = metadataTypes.isEmpty ? nil : try row.readMetadata()
            guard let group = closure.group(row.identity.key, row.object, metadata) else { return nil }
            return (group, YapDatabaseViewSort.key(row.identity.key, row.object, metadata, sort))
        }
    }

    let rules: ViewSetting<Rule>

    var setting: (any ViewSettings)? { rules }
    var metadataTypes: [any Sendable.Type] { rules.newest.metadataTypes }
    var catchesUp: Bool { true }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseAutoViewTransaction(self, connection, transaction, tables)
    }

    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) throws
        -> ViewPlace<Group>
    {
        guard let place = try rules.newest.place(row) else { return .outside }
        return .at(group: place.group, sort: place.sort)
    }
}
