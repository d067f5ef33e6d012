/// A view with rows that the app places.
///
/// ```swift
/// let playlist = YapDatabaseManualView(
///     "playlist", of: Song.self, in: "songs", groups: String.self, version: "1")
/// try await database.register(playlist)
/// try await connection.readWrite { _ = try $0[playlist].append("song-7", to: "favourites") }
/// ```
///
/// A row is in one group only. Deleted rows leave the view. Another version empties it.
public final class YapDatabaseManualView<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseView<Object, Group>, @unchecked Sendable  // It has only `let` properties of Sendable types.
{
    /// Class name in the file, independent of the types of objects and groups.
    override public class var className: String { "YapDatabaseManualView" }

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - name: Name of the view in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - groups: The type of the groups.
    ///   - version: Another version empties the view.
    public init(
        _ name: String, of type: Object.Type, in collection: String, groups: Group.Type, version: String
    ) {
        super.init(
            name, collection: collection, versionTag: "\(version);\(collection);\(Group.self)",
            placement: ViewManualPlacement())
    }
}

extension YapDatabaseReadWriteTransaction {
    /// Returns the transaction of a manual view, with the methods that place rows.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered, or can't be read now.
    public subscript<Object: Sendable, Group: YapDatabaseViewGroup>(
        view: YapDatabaseManualView<Object, Group>
    ) -> YapDatabaseManualViewTransaction<Object, Group> {
        get throws {
            let part = try ext(view.name, as: YapDatabaseManualView<Object, Group>.self)
            if let part = part as? YapDatabaseManualViewTransaction<Object, Group> { return part }
            throw YapDatabaseError(.extensionNotRegistered, "\"\(view.name)\" isn't a manual view")
        }
    }
}

/// Leaves rows where the app placed them.
private struct ViewManualPlacement<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    var storesKeys: Bool { true }

    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) -> ViewPlace<Group>
    {
        .unchanged
    }

    /// Keeps the rows that still exist.
    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        if !isCurrent { try part.table.create() }
        if isCurrent, missed != .none {
            for rowID in try part.table.strayRowIDs(collection: part.view.collection) {
                try part.table.place(rowID, at: nil, isNew: false, [])
            }
        }
        // No row is handed over, because the app places them.
        return .isUnchanged
    }

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        YapDatabaseManualViewTransaction(connection, transaction, tables)
    }
}
