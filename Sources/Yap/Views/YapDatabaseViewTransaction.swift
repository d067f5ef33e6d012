import SQLite

/// A view in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, `decoding`, or an error of the
/// file.
///
/// ```swift
/// let first = try await connection.read { try $0[open].rows(in: "home", 0..<20) }
/// ```
///
/// Indexes count from 0 in the order of the view. Indexes beyond a group are ignored, and aren't an error.
public class YapDatabaseViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseExtensionTransaction
{
    /// A row of the view.
    public typealias Row = (key: String, object: Object)

    let view: YapDatabaseView<Object, Group>
    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    let table: ViewTable<Group>
    /// True if rows were removed in this transaction. A row that is handed over now changed while the view lacked it.
    var hasHeardOfRemovals = false
    /// The parent view in the same transaction.
    let parent: YapDatabaseViewTransaction<Object, Group>?

    init(
        _ connection: YapDatabaseViewConnection<Object, Group>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        view = connection.view
        self.transaction = transaction
        self.tables = tables
        table = ViewTable(
            connection.sql, tables, connection.names,
            changedRowsMax: transaction.store.changedKeysPerCommitMax)
        // A dependency is registered before, so its part exists already.
        parent = view.parentName.flatMap { name in
            transaction.usesSoFar.first { $0.entry.registered.name == name }?.transaction
                as? YapDatabaseViewTransaction<Object, Group>
        }
        table.placePending = { [unowned self] in try placePending() }
    }

    // MARK: Placing

    /// Places a row that was written, or that the parent has placed.
    ///
    /// - Parameters:
    ///   - isNew: True if the row is known not to be in the view.
    ///   - flags: See `ViewTable.place`.
    func place(_ row: ViewRow<Object>, isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?) throws {
        let rowID = row.identity.rowID
        switch try view.placement.place(row, in: self) {
        case .at(let group, let sort): try table.place(rowID, at: (group, sort), isNew: isNew, flags)
        case .outside: try table.place(rowID, at: nil, isNew: isNew, flags)
        case .unchanged:
            if !isNew, let flags { try table.touch(rowID, flags) }
        }
    }

    /// Records that a row changed without moving.
    func touch(_ row: YapDatabaseRowIdentity, _ flags: YapDatabaseViewRowChange.Flags) throws {
        // The parent hands it over, with these flags, as soon as it knows the place.
        if parent?.isPending(row.rowID) == true { return }
        try table.touch(row.rowID, flags)
    }

    /// Places a row after the parent has placed it.
    func followParent(_ row: YapDatabaseRowIdentity, _ flags: YapDatabaseViewRowChange.Flags) throws {
        let object = try transaction.object(Object.self, forKey: row.key, inCollection: view.collection)
        guard let object else { return }
        try place(
            ViewRow(identity: row, object: object, metadata: .stored(transaction)), isNew: false, flags)
    }

    /// Returns true if the place of a row isn't computed yet. The child views wait for it.
    func isPending(_ rowID: Int64) -> Bool { parent?.isPending(rowID) ?? false }

    /// Places the rows without a computed place.
    func placePending() throws { try parent?.placePending() }

    /// Discards rows without a computed place. Nil for all of them.
    func removePending(_ rowIDs: [Int64]?) {}

    /// Returns a closure that restores pending pages, groups, changes and closures.
    public func makeRestorePoint() throws -> () -> Void {
        let (restoreTable, restoreSetting) = (
            table.makeRestorePoint(), view.placement.setting?.makeRestorePoint(of: owner)
        )
        return {
            restoreTable()
            restoreSetting?()
        }
    }

    /// Makes the closures that were set the current ones.
    public func didCommit(snapshot: UInt64) { view.placement.setting?.commit(owner, snapshot: snapshot) }

    /// Reverts the closures that were set.
    public func didRollback() { view.placement.setting?.forget(owner) }

    /// Identifies the transaction as the owner of the closures that it sets.
    var owner: ObjectIdentifier { ObjectIdentifier(self) }

    // MARK: Groups

    /// Returns the groups that have rows, in ascending order.
    public func groups() throws -> [Group] { try counts().keys.sorted() }

    /// Returns the number of rows of each group that has rows.
    public func counts() throws -> [Group: Int] {
        try noteRead(of: nil)
        return try table.counts()
    }

    /// Returns the number of rows of all groups.
    public func count() throws -> Int { try counts().values.reduce(0, +) }

    /// Returns the number of rows of a group.
    public func count(in group: Group) throws -> Int {
        try noteRead(of: group)
        return try table.count(of: group)
    }

    // MARK: Rows

    /// Returns rows of a group in order.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - range: The indexes of the rows. Default: all rows of the group.
    public func rows(in group: Group, _ range: Range<Int>? = nil) throws -> [Row] {
        try noteRead(of: group)
        return try table.withRows(of: group, in: range ?? 0..<Int.max) { statement in
            var rows: [Row] = []
            while try statement.step() { rows.append(try row(statement, isKept: range != nil)) }
            return rows
        }
    }

    /// Returns the keys of a group's rows in order, without decoding objects. Parameters: see `rows(in:_:)`.
    public func keys(in group: Group, _ range: Range<Int>? = nil) throws -> [String] {
        try noteRead(of: group)
        return try table.withRows(of: group, in: range ?? 0..<Int.max) { statement in
            var keys: [String] = []
            while try statement.step() { keys.append(statement.text(at: 1)) }
            return keys
        }
    }

    /// Returns the row at an index of a group, or nil if the group has fewer rows.
    public func row(at index: Int, in group: Group) throws -> Row? {
        guard index >= 0, index < Int.max else { return nil }
        return try rows(in: group, index..<index + 1).first
    }

    /// Returns the first row of a group, or nil if it has none.
    public func first(in group: Group) throws -> Row? { try row(at: 0, in: group) }

    /// Returns the last row of a group, or nil if it has none.
    public func last(in group: Group) throws -> Row? { try row(at: count(in: group) - 1, in: group) }

    /// Returns the row at a path of a list, according to mappings of this snapshot.
    ///
    /// - Parameters:
    ///   - path: Section and row.
    ///   - mappings: Their state must be of this transaction's snapshot.
    public func row(at path: YapDatabaseViewPath, _ mappings: YapDatabaseViewMappings<Group>) throws -> Row? {
        guard let place = mappings.place(of: path) else { return nil }
        return try row(at: place.index, in: place.group)
    }

    /// Returns the place of a row in the view, or nil if it isn't in it.
    public func place(ofKey key: String) throws -> (group: Group, index: Int)? {
        try transaction.check()
        guard let rowID = try transaction.rowID(forKey: key, inCollection: view.collection) else {
            return nil
        }
        guard let entry = try table.entry(rowID) else {
            // Other groups, another filter or another query may add it without writing the row.
            tables.noteRead { ($0 as? ViewChanges<Group>)?.touches(rowID: rowID) ?? true }
            return nil
        }
        let group = try table.group(entry.groupID)
        try noteRead(of: group)
        return (group, try table.index(of: entry))
    }

    /// Returns the indexes of a contiguous stretch of a group's rows, by binary search.
    ///
    /// ```swift
    /// let inJune = try transaction[open].indexes(in: "home") {
    ///     $0.due < june ? .before : $0.due < july ? .within : .after
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - side: Returns the side of the stretch on which an object is. The group must be sorted accordingly: all
    ///     objects before it, then those within, then those after.
    /// - Returns: The indexes. An empty range is at the place where its rows would be.
    public func indexes(in group: Group, where side: (Object) throws -> YapDatabaseViewSide) throws
        -> Range<Int>
    {
        let count = try count(in: group)
        func sideOfRow(_ index: Int) throws -> YapDatabaseViewSide {
            try row(at: index, in: group).map { try side($0.object) } ?? .after
        }
        let start = try partitioningIndex(below: count) { try sideOfRow($0) == .before }
        return start..<max(start, try partitioningIndex(below: count) { try sideOfRow($0) != .after })
    }

    private func row(_ statement: borrowing Statement, isKept: Bool) throws -> Row {
        let key = statement.text(at: 1)
        let object = try transaction.object(
            Object.self, key, inCollection: view.collection, rowID: statement.int64(at: 0), isKept: isKept
        ) { decode in try statement.withBytes(at: 2, decode) }
        return (key, object)
    }

    private func noteRead(of group: Group?) throws {
        try transaction.check()
        tables.noteRead { changes in
            guard let changes = changes as? ViewChanges<Group>, let group else { return true }
            return changes.touches(group)
        }
    }

    /// Returns the changes with their indexes before them and after them, in this snapshot.
    func deltas(_ changes: ViewChanges<Group>) throws -> [ViewRowDelta<Group>] {
        try changes.deltas { place, rowID in try table.index(of: place, rowID) }
    }
}

/// Side of a stretch of rows on which an object is.
public enum YapDatabaseViewSide: Sendable {
    /// Before the stretch.
    case before
    /// Within the stretch.
    case within
    /// After the stretch.
    case after
}
