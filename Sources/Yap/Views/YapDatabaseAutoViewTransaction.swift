import SQLite

/// An automatic view in a write transaction, which can set other groups and another order.
public final class YapDatabaseAutoViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    private typealias Grouping = ViewGrouping<Object, Group>

    private let placement: ViewGrouping<Object, Group>

    init(
        _ placement: ViewGrouping<Object, Group>, _ connection: YapDatabaseViewConnection<Object, Group>,
        _ transaction: YapDatabaseReadTransaction, _ tables: YapDatabaseExtensionTables
    ) {
        self.placement = placement
        super.init(connection, transaction, tables)
    }

    /// Replaces the sort order. Views with this one as their parent, and observed lists, are updated too.
    ///
    /// ```swift
    /// try await connection.readWrite { try $0[open].setSort(version: "by title", [.by(\.title)]) }
    /// ```
    ///
    /// It reads each row of the view once, and once more for each child view if the row moves. A sort that compares
    /// makes about n * log2(n) comparisons for n rows of a group, each of which may read two objects, while other
    /// writes wait. It writes the rows with other sort values; observed lists receive them as moves, or a reset if
    /// they are more than `YapDatabaseOptions.changedKeysPerCommitMax`. The order is valid in this process from this
    /// transaction on, if it is committed. The file stores only the version: register the view with this version and
    /// this sort the next time; otherwise it is filled again. Another process that has the view registered can't read
    /// it until it opens the database again and registers the view with this version. Unregistering it there drops it
    /// for all processes.
    ///
    /// - Parameters:
    ///   - version: Version of groups and sort together. If it is the current one, nothing changes.
    ///   - sort: The new order: see `YapDatabaseAutoView.init(_:of:in:version:group:sort:)`.
    /// - Throws: `YapDatabaseError`: `readOnlyTransaction` in a read transaction; `invalidExtension` if the view's
    ///   description is also registered in another open database; `missingRegistration` or `typeMismatch` for a sort
    ///   by metadata that isn't registered with its type. The view is then unchanged, and the transaction may
    ///   continue. `decoding` for a row that can't be read; nothing of the transaction is kept then.
    public func setSort(version: String, _ sort: [YapDatabaseViewSort<Object>]) throws {
        let rule = rule(version, placement.rules.newest.closure, sort)
        try set(rule) { try table.rowIDs() }
    }

    /// Replaces groups and order. Rows with the same group and sort values stay.
    ///
    /// ```swift
    /// try await connection.readWrite { transaction in
    ///     try transaction[open].setGrouping(version: "by year", sort: [.by(\.due)]) { "\($0.year)" }
    /// }
    /// ```
    ///
    /// It reads each row of the collection, and not only those of the view. For everything else see
    /// `setSort(version:_:)`.
    ///
    /// - Parameters:
    ///   - version: Version of groups and sort together. If it is the current one, nothing changes.
    ///   - sort: Values to sort each group by.
    ///   - group: Returns the group of an object: see `YapDatabaseAutoView.init(_:of:in:version:group:sort:)`.
    /// - Throws: The errors of `setSort(version:_:)`; also `encoding` for a group that can't be encoded; nothing of
    ///   the transaction is kept then.
    public func setGrouping(
        version: String, sort: [YapDatabaseViewSort<Object>],
        _ group: @escaping @Sendable (_ object: Object) -> Group?
    ) throws {
        try setGrouping(rule(version, Grouping.Closure { group($1) }, sort))
    }

    /// Replaces groups and order. The groups depend on the key as well. Parameters and errors: see the first form.
    public func setGrouping(
        version: String, sort: [YapDatabaseViewSort<Object>],
        byKey group: @escaping @Sendable (_ key: String, _ object: Object) -> Group?
    ) throws {
        try setGrouping(rule(version, Grouping.Closure(group), sort))
    }

    /// Replaces groups and order. The groups depend on the metadata as well. Parameters and errors: see the first
    /// form.
    ///
    /// - Parameters:
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - sort: The order, by the first element first.
    ///   - group: Returns the group of a row, or nil for a row that isn't part of the view.
    public func setGrouping<Metadata: Sendable>(
        version: String, metadata: Metadata.Type, sort: [YapDatabaseViewSort<Object>],
        _ group: @escaping @Sendable (_ key: String, _ object: Object, _ metadata: Metadata?) -> Group?
    ) throws {
        try setGrouping(rule(version, Grouping.Closure(group), sort))
    }

    private func rule(
        _ version: String, _ closure: Grouping.Closure, _ sort: [YapDatabaseViewSort<Object>]
    ) -> Grouping.Rule {
        Grouping.Rule(version, collection: view.collection, closure, sort)
    }

    private func setGrouping(_ rule: Grouping.Rule) throws {
        try set(rule, rowIDsOfCollection)
    }

    private func set(_ rule: Grouping.Rule, _ rowIDs: () throws -> [Int64]) throws {
        let former = placement.rules.newest
        try set(rule, in: placement.rules) {
            if rule.isCompared {
                try order(rowIDs(), by: rule, hadOrderKeys: former.isCompared)
            } else {
                try place(rowIDs(), by: rule)
            }
        }
    }

    private func place(_ rowIDs: [Int64], by rule: Grouping.Rule) throws {
        let hasFollowers = hasFollowers
        for rowID in rowIDs {
            guard let row = try storedRow(rowID) else { continue }
            let member = try rule.member(row)
            let place = try member.map { (group: $0.group, sort: try rule.sortKey($0.row)) }
            try move(row.identity, to: place, hasFollowers)
        }
    }

    private func move(
        _ row: YapDatabaseRowIdentity, to place: (group: Group, sort: [UInt8])?, _ hasFollowers: Bool
    ) throws {
        let isMoved = try table.place(row.rowID, at: place, isNew: false, [])
        if isMoved, hasFollowers { try placeInFollowers(row) }
    }

    // MARK: Comparing

    /// Sorts rows by a rule that compares them. It keeps each row's key in memory, but no object.
    private func order(_ rowIDs: [Int64], by rule: Grouping.Rule, hadOrderKeys: Bool) throws {
        let hasFollowers = hasFollowers
        var members: [Group: [YapDatabaseRowIdentity]] = [:]
        for rowID in rowIDs {
            guard let row = try storedRow(rowID) else { continue }
            if let group = try rule.member(row)?.group {
                members[group, default: []].append(row.identity)
            } else {
                try move(row.identity, to: nil, hasFollowers)
            }
        }
        for group in members.keys.sorted() {
            let sorted = try (members[group] ?? []).sorted { first, second in
                try rule.precedes(
                    ViewSortRow(first, in: transaction), ViewSortRow(second, in: transaction))
            }
            try setOrder(sorted, of: group, hadOrderKeys, hasFollowers)
        }
    }

    /// Gives all rows of a group new sort keys. As many as possible keep their places in observed lists.
    private func setOrder(
        _ rows: [YapDatabaseRowIdentity], of group: Group, _ hadOrderKeys: Bool, _ hasFollowers: Bool
    ) throws {
        let groupID = try table.groupID(group)
        let entries = try rows.map { row in
            try table.storedEntry(row.rowID).flatMap { $0.groupID == groupID ? $0 : nil }
        }
        let kept = longestIncreasingSubsequence(entries)
        if kept.count == rows.count, hadOrderKeys { return }
        guard let keys = ViewOrderKey.spread(rows.count, nil, nil) else {
            throw YapDatabaseError(.corrupt, "the view \"\(view.name)\" has no keys for its rows")
        }
        for (index, row) in rows.enumerated() {
            if kept.contains(index) {
                if entries[index]?.sort != keys[index] { try setSort(row.rowID, keys[index]) }
            } else {
                var key = keys[index]
                // With its former key it would count as a row that stays, although others have passed it.
                if entries[index]?.sort == key {
                    let next = index + 1 < keys.count ? keys[index + 1] : nil
                    key = ViewOrderKey.between(key, next) ?? key
                }
                try move(row, to: (group, key), hasFollowers)
            }
        }
    }

    private func rowIDsOfCollection() throws -> [Int64] {
        try transaction.store.statement("SELECT rowid FROM database2 WHERE collection = ?1 ORDER BY rowid") {
            statement in
            try statement.bind(view.collection, at: 1)
            var rowIDs: [Int64] = []
            while try statement.step() { rowIDs.append(statement.int64(at: 0)) }
            return rowIDs
        }
    }
}
