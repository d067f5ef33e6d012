import SQLite

/// A filtered view in a transaction that writes, which can set another filter. Reads as any view.
public final class YapDatabaseFilteredViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    private let placement: ViewFilter<Object, Group>
    private var owner: ObjectIdentifier { ObjectIdentifier(self) }

    init(
        _ placement: ViewFilter<Object, Group>, _ connection: YapDatabaseViewConnection<Object, Group>,
        _ transaction: YapDatabaseReadTransaction, _ tables: YapDatabaseExtensionTables
    ) {
        self.placement = placement
        super.init(connection, transaction, tables)
    }

    /// Replaces the filter. Rows that pass both filters stay; views of this one, and lists that follow them, follow.
    ///
    /// ```swift
    /// try await connection.readWrite { try $0[urgent].setFilter(version: "from 4") { _, todo in todo.priority >= 4 } }
    /// ```
    ///
    /// It reads each row of the parent once, and writes those that enter and leave. The filter counts in this process
    /// from this transaction on, if it is committed. The file stores only the version: register the view with this
    /// version and this filter the next time, else it is filled anew. Another process that has the view registered
    /// can't read it any more until it registers it with this version.
    ///
    /// - Parameters:
    ///   - version: Version of the filter. If it is the current one, nothing changes.
    ///   - filter: As in `YapDatabaseFilteredView.init(_:of:version:filter:)`.
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction` in a transaction that only reads; `invalidExtension` if the
    ///   view's description is registered in another open database too; `decoding` for a row that can't be read: then
    ///   nothing of the transaction is kept.
    public func setFilter(
        version: String, _ filter: @escaping @Sendable (_ group: Group, _ object: Object) -> Bool
    ) throws {
        try setFilter(version: version, byKey: { group, _, object in filter(group, object) })
    }

    /// Replaces the filter by one that depends on the key as well. Parameters and errors as the other form.
    public func setFilter(
        version: String,
        byKey filter: @escaping @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    ) throws {
        try transaction.check()
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseError(.readOnlyTransaction, "a filter can't be set in a transaction that reads")
        }
        let tag = placement.versionTag(version)
        guard tag != placement.setting.newest.versionTag else { return }
        try placePending()
        guard placement.setting.set(.init(versionTag: tag, isIncluded: filter), by: owner) else {
            throw ViewFilterSetting<Object, Group>.mistake(ofSharing: view)
        }
        try writing.toldOf {
            if let use = transaction.usesSoFar.first(where: { $0.transaction === self }) {
                try transaction.store.config.setText(
                    tag, extension: use.entry.registered.name, key: ConfigTable.versionTagKey)
            }
            try filterAgain(filter)
        }
    }

    /// Keeps the filter, with what any view keeps.
    override public func makeRestorePoint() throws -> () -> Void {
        let (restore, filter) = (try super.makeRestorePoint(), placement.setting.filter(of: owner))
        return {
            restore()
            self.placement.setting.restore(filter, by: self.owner)
        }
    }

    /// Makes the filter that was set the current one.
    override public func didCommit(snapshot: UInt64) { placement.setting.commit(owner) }

    /// Takes back the filter that was set.
    override public func didRollback() { placement.setting.restore(nil, by: owner) }

    private func filterAgain(_ filter: (Group, String, Object) -> Bool) throws {
        guard let parent else { return }
        let hasFollowers = hasFollowers
        for rowID in try parent.table.rowIDs() {
            guard let place = try placement.parent.place(rowID, in: self),
                let (row, object) = try read(rowID)
            else { continue }
            let wasIncluded = try table.storedEntry(rowID) != nil
            let isIncluded = filter(place.group, row.key, object)
            // A row that is in the view is where the parent has it: each change of the parent is followed.
            if isIncluded == wasIncluded { continue }
            try table.place(rowID, at: isIncluded ? place : nil, isNew: !wasIncluded, [])
            if hasFollowers { try placeInFollowers(row) }
        }
    }

    private func read(_ rowID: Int64) throws -> (YapDatabaseRowIdentity, Object)? {
        let store = transaction.store
        let registration = try store.registered(view.collection).registration
        let sql = "SELECT rowid, collection, key, data, metadata FROM database2 WHERE rowid = ?1"
        return try store.statement(sql) { statement in
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return nil }
            let row = try registration.row(rowID, view.collection, statement)
            return (row.object as? Object).map { (row.identity, $0) }
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    /// A filtered view in this transaction, with the method that sets another filter.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`: it isn't registered, or can't be read now.
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
