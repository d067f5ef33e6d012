/// Where a row belongs in a view after it was written.
enum ViewPlace<Group: YapDatabaseViewGroup> {
    /// In a group, with a sort key.
    case at(group: Group, sort: [UInt8])
    /// Not in the view.
    case outside
    /// Where it was.
    case unchanged
}

/// What makes a kind of view: it places the rows. Everything else is the same in all views.
protocol ViewPlacement<Object, Group>: Sendable {
    associatedtype Object: Sendable
    associatedtype Group: YapDatabaseViewGroup

    /// Whether entries have their rows' keys, so that a row is told from a later one of its rowid.
    var storesKeys: Bool { get }
    /// Whether rows that were written without the view can be placed afterwards: see `YapDatabaseExtension.catchesUp`.
    var catchesUp: Bool { get }
    /// The closures that a transaction can replace, or nil.
    var setting: (any ViewSettings)? { get }
    /// The types of the metadata on which places depend.
    var metadataTypes: [any Sendable.Type] { get }

    /// Makes the view's part in a transaction.
    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group>

    /// Returns where a row belongs that was written, or is filled in.
    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) throws
        -> ViewPlace<Group>

    /// Prepares the tables when the view is registered.
    ///
    /// - Parameters:
    ///   - isCurrent: True if the tables are of this version.
    ///   - missed: What was written since then without the view.
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

    /// Creates the tables anew, unless they are current or can catch up.
    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        if isCurrent, missed == .none || (missed == .known && catchesUp) { return .isUnchanged }
        try part.table.create()
        return .isEmpty
    }
}
