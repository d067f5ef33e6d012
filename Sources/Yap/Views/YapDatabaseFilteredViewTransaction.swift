/// A filtered view in a write transaction, which can set another filter.
public final class YapDatabaseFilteredViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    private let placement: ViewFilter<Object, Group>

    init(
        _ placement: ViewFilter<Object, Group>, _ connection: YapDatabaseViewConnection<Object, Group>,
        _ transaction: YapDatabaseReadTransaction, _ tables: YapDatabaseExtensionTables
    ) {
        self.placement = placement
        super.init(connection, transaction, tables)
    }

    /// Replaces the filter. Rows that pass both filters stay. Views with this one as their parent, and observed
    /// lists, are updated too.
    ///
    /// ```swift
    /// try await connection.readWrite { transaction in
    ///     try transaction[urgent].setFilter(version: "from 4") { _, todo in todo.priority >= 4 }
    /// }
    /// ```
    ///
    /// It reads each row of the parent once, and writes the rows that enter and leave. The filter is valid in this
    /// process from this transaction on, if it is committed. The file stores only the version: register the view with
    /// this version and this filter the next time; otherwise it is filled again. Another process that has the view
    /// registered can't read it until it opens the database again and registers the view with this version.
    /// Unregistering it there drops it for all processes.
    ///
    /// - Parameters:
    ///   - version: Version of the filter. If it is the current one, nothing changes.
    ///   - filter: Returns true for rows of the view: see `YapDatabaseFilteredView.init(_:of:version:filter:)`.
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction` in a read transaction; `invalidExtension` if the view's
    ///   description is also registered in another open database; `decoding` for a row that can't be read; nothing of
    ///   the transaction is kept then.
    public func setFilter(
        version: String, _ filter: @escaping @Sendable (_ group: Group, _ object: Object) -> Bool
    ) throws {
        try setFilter(version: version, byKey: { group, _, object in filter(group, object) })
    }

    /// Replaces the filter by one that depends on the key as well. Parameters and errors: see the first form.
    public func setFilter(
        version: String,
        byKey filter: @escaping @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    ) throws {
        try set(ViewFilter.Rule(placement.versionTag(version), filter))
    }

    /// Replaces the filter by one that depends on the metadata as well. Parameters and errors: see the first form.
    ///
    /// - Parameters:
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - filter: Returns true for rows that are part of the view.
    /// - Throws: Also `missingRegistration` or `typeMismatch` if it isn't registered with this type. The view is then
    ///   unchanged, and the transaction may continue.
    public func setFilter<Metadata: Sendable>(
        version: String, metadata: Metadata.Type,
        _ filter:
            @escaping @Sendable (
                _ group: Group, _ key: String, _ object: Object, _ metadata: Metadata?
            ) -> Bool
    ) throws {
        try set(ViewFilter.Rule(placement.versionTag(version), filter))
    }

    private func set(_ rule: ViewFilter<Object, Group>.Rule) throws {
        try set(rule, in: placement.rules) { try filterAgain(rule) }
    }

    private func filterAgain(_ rule: ViewFilter<Object, Group>.Rule) throws {
        guard let parent else { return }
        let hasFollowers = hasFollowers
        for rowID in try parent.table.rowIDs() {
            guard let place = try placement.parent.place(rowID, in: self), let row = try storedRow(rowID)
            else { continue }
            // A row of the view is at the parent's place, because each change of the parent is followed.
            let isIncluded = try rule.includes(row, in: place.group)
            let isMoved = try table.place(rowID, at: isIncluded ? place : nil, isNew: false, [])
            if isMoved, hasFollowers { try placeInFollowers(row.identity) }
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    /// Returns the transaction of a filtered view, with the method that sets another filter.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered, or can't be read now.
    public subscript<Object: Sendable, Group: YapDatabaseViewGroup>(
        view: YapDatabaseFilteredView<Object, Group>
    ) -> YapDatabaseFilteredViewTransaction<Object, Group> {
        get throws {
            let part = try ext(view.name, as: YapDatabaseFilteredView<Object, Group>.self)
            if let part = part as? YapDatabaseFilteredViewTransaction<Object, Group> { return part }
            throw YapDatabaseError(.extensionNotRegistered, "\"\(view.name)\" isn't a filtered view")
        }
    }
}
