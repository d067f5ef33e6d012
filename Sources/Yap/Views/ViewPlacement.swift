/// Place of a row in a view after a write.
enum ViewPlace<Group: YapDatabaseViewGroup> {
    /// In a group, with a sort key.
    case at(group: Group, sort: [UInt8])
    /// Not in the view.
    case outside
    /// At its previous place.
    case unchanged
}

/// Places the rows of one kind of view. Everything else is the same in all views.
protocol ViewPlacement<Object, Group>: Sendable {
    associatedtype Object: Sendable
    associatedtype Group: YapDatabaseViewGroup

    /// True if entries have their rows' keys, to distinguish a row from a later one with its rowid.
    var storesKeys: Bool { get }
    /// True if rows that were written without the view can be placed later: see `YapDatabaseExtension.catchesUp`.
    var catchesUp: Bool { get }
    /// Closures that a transaction can replace, or nil.
    var setting: (any ViewSettings)? { get }
    /// Types of the metadata that places depend on.
    var metadataTypes: [any Sendable.Type] { get }

    /// Creates the view's part of a transaction.
    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group>

    /// Returns the place of a row that was written or is filled in.
    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) throws
        -> ViewPlace<Group>

    /// Prepares the tables when the view is registered.
    ///
    /// - Parameters:
    ///   - isCurrent: True if the tables have this version.
    ///   - missed: Writes since then without the view.
    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent
}

extension ViewPlacement {
    var storesKeys: Bool { false }
    var catchesUp: Bool { false }
    var setting: (any ViewSettings)? { nil }
    var metadataTypes: [any Sendable.Type] { [] }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseViewTransaction(connection, transaction, tables)
    }

    /// Creates the tables, unless they are current or can catch up.
    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        if isCurrent, missed == .none || (missed == .known && catchesUp) { return .isUnchanged }
        try part.table.create()
        return .isEmpty
    }
}
