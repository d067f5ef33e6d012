import System

/// Places the rows of a parent view that a full-text search finds at the parent's places.
struct ViewSearch<Object: Sendable, Group: YapDatabaseViewGroup>: ViewPlacement {
    typealias Part = YapDatabaseSearchResultsViewTransaction<Object, Group>

    let parent: ViewParent<Object, Group>
    let search: YapDatabaseFullTextSearch<Object>
    let isPersistent: Bool

    func makePart(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) -> YapDatabaseViewTransaction<Object, Group> {
        Part(self, connection, transaction, tables)
    }

    var catchesUp: Bool { true }

    /// Not called, because rows are placed together.
    func place(_ row: ViewRow<Object>, in part: YapDatabaseViewTransaction<Object, Group>) -> ViewPlace<Group>
    {
        .unchanged
    }

    /// Empties the view, unless its query is kept. If the missed rows aren't known, the query runs again.
    func register(
        _ part: YapDatabaseViewTransaction<Object, Group>, isCurrent: Bool,
        missed: YapDatabaseExtensionRegistration.MissedChanges
    ) throws -> YapDatabaseExtensionContent {
        try parent.check(part)
        guard let part = part as? Part, try part.searchPart().search.versionTag == search.versionTag,
            search.collection.hasSameBytes(as: part.view.collection)
        else {
            throw YapDatabaseError(
                .invalidExtension,
                "the search \"\(search.name)\" of \"\(part.view.name)\" is of another collection than "
                    + "\"\(parent.view.name)\", or registered with another version")
        }
        if try !isCurrent || !isPersistent || !part.hasReadableQuery() {
            try part.createTables()
        } else if missed == .unknown {
            try part.searchAgain()
        }
        return .isUnchanged
    }
}
