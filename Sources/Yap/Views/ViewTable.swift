import SQLite

/// Entries of a view in one transaction, with their groups and pages, and the changes of the transaction.
///
/// Entries are written at once. Pages and counts are written when something is read, or at the end.
final class ViewTable<Group: YapDatabaseViewGroup> {
    let sql: ViewSQL
    let tables: YapDatabaseExtensionTables
    private let pages: ViewPages
    private var groups: ViewGroups<Group>
    /// Maximum changed rows that a transaction names one by one.
    let changedRowsMax: Int
    private var pageChanges: [ViewEntry: Int] = [:]
    private var changes = ViewChanges<Group>()
    /// Maximum entries with pending page changes.
    private static var pendingEntriesMax: Int { 10_000 }

    /// Called before a read. Places the rows without a computed place.
    var placePending: () throws -> Void = {}

    /// Pages read since the last change.
    private var positions: [Int64: ViewPages.Positions] = [:]
    /// Beginnings of pages, perhaps from before the last changes.
    private var pageStarts: [Int64: [ViewEntry]] = [:]

    init(
        _ sql: ViewSQL, _ tables: YapDatabaseExtensionTables, _ names: ViewGroupNames<Group>,
        changedRowsMax: Int
    ) {
        self.sql = sql
        self.tables = tables
        self.changedRowsMax = changedRowsMax
        pages = ViewPages(sql, tables)
        groups = ViewGroups(sql, tables, names)
    }

    // MARK: Reading

    /// Returns a row's entry, or nil if it isn't in the view.
    func entry(_ rowID: Int64) throws -> ViewEntry? {
        try placePending()
        return try storedEntry(rowID)
    }

    /// Returns a row's entry, perhaps from before a pending change.
    func storedEntry(_ rowID: Int64) throws -> ViewEntry? {
        try tables.withStatement(sql.find, [.integer(rowID)]) { statement in
            guard try statement.step() else { return nil }
            return ViewEntry(
                groupID: statement.int64(at: 0), sort: statement.bytes(at: 1), rowID: rowID)
        }
    }

    func group(_ id: Int64) throws -> Group { try groups.group(id) }

    func counts() throws -> [Group: Int] {
        try placePending()
        try settle()
        return try groups.counts()
    }

    func count(of group: Group) throws -> Int { try positions(group)?.count ?? 0 }

    /// Returns the number of entries of the group before an entry.
    func index(of entry: ViewEntry) throws -> Int {
        try pages.index(of: entry, positions(entry.groupID))
    }

    /// Returns the number of entries of the group before a place.
    func index(of place: ViewChanges<Group>.Place, _ rowID: Int64) throws -> Int {
        try placePending()
        guard let id = try groups.id(of: place.group) else { return 0 }
        return try index(of: ViewEntry(groupID: id, sort: place.sort, rowID: rowID))
    }

    /// Runs `body` with a statement that returns the group's rows in order: rowid, key and data.
    ///
    /// - Parameter range: The indexes of the rows. Indexes beyond the group are ignored.
    func withRows<Result>(
        of group: Group, in range: Range<Int>, _ body: (borrowing Statement) throws -> [Result]
    ) throws -> [Result] {
        guard let window = try window(of: group, range) else { return [] }
        return try tables.withStatement(sql.rows, window.values, body)
    }

    /// Returns the parameters of a statement that returns a group's entries by their indexes, or nil if the range is
    /// empty. Indexes beyond the group are ignored.
    func window(of group: Group, _ range: Range<Int>) throws
        -> (groupID: Int64, values: [YapDatabaseColumnValue])?
    {
        let first = max(0, range.lowerBound)
        guard let positions = try positions(group), let start = positions.start(at: first) else { return nil }
        let limit = min(range.upperBound, positions.count) - first
        guard limit > 0 else { return nil }
        let values: [YapDatabaseColumnValue] = [
            .integer(start.entry.groupID), .blob(start.entry.sort), .integer(start.entry.rowID),
            .integer(Int64(limit)), .integer(Int64(start.offset)),
        ]
        return (start.entry.groupID, values)
    }

    func groupID(_ group: Group) throws -> Int64? {
        try placePending()
        return try groups.id(of: group)
    }

    private func positions(_ group: Group) throws -> ViewPages.Positions? {
        try placePending()
        return try groups.id(of: group).map { try positions($0) }
    }

    private func positions(_ groupID: Int64) throws -> ViewPages.Positions {
        try settle()
        if let known = positions[groupID] { return known }
        let read = try pages.positions(ofGroup: groupID)
        positions[groupID] = read
        return read
    }

    /// Returns entries that divide a group into stretches. They may be from before the last changes; the stretches
    /// are then longer than a page until `settle()`.
    func pageStarts(ofGroup groupID: Int64) throws -> [ViewEntry] {
        if let known = pageStarts[groupID] { return known }
        let read = try pages.starts(ofGroup: groupID)
        pageStarts[groupID] = read
        return read
    }

    // MARK: Changing

    /// Creates the tables.
    func create() throws {
        groups.removeAll()
        try tables.execute(sql.create)
        forgetEntries()
    }

    /// Places a row.
    ///
    /// - Parameters:
    ///   - place: Its group and sort key. Nil if it isn't part of the view.
    ///   - isNew: True if the row is known not to be in the view.
    ///   - flags: Changed parts of the row. Nil while the view is being filled, when nothing observes it.
    /// - Returns: True if the row moved.
    @discardableResult
    func place(
        _ rowID: Int64, at place: (group: Group, sort: [UInt8])?, isNew: Bool,
        _ flags: YapDatabaseViewRowChange.Flags?
    ) throws -> Bool {
        var old = isNew ? nil : try storedEntry(rowID)
        let new = try place.map { place in
            ViewEntry(groupID: try groups.makeID(of: place.group), sort: place.sort, rowID: rowID)
        }
        if old == nil, let new, try run(sql.insert, new, count: 3) == 0 {
            // The view is catching up, and still has the rowid's former row, which another process removed.
            old = try storedEntry(rowID)
            try run(sql.update, new, count: 3)
        } else if let old, old != new {
            if let new { try run(sql.update, new, count: 3) } else { try run(sql.delete, old, count: 1) }
        }
        if old != new {
            if let old { note(old, -1) }
            if let new { note(new, 1) }
        }
        if let flags, old != new || old != nil && !flags.isEmpty { try record(rowID, old, new, flags) }
        if pageChanges.count > Self.pendingEntriesMax { try settle() }
        return old != new
    }

    /// Records that a row changed and stays at its place. Its place must be known; those of other rows needn't be.
    func touch(_ rowID: Int64, _ flags: YapDatabaseViewRowChange.Flags) throws {
        guard let entry = try storedEntry(rowID) else { return }
        try record(rowID, entry, entry, flags)
    }

    /// Gives an entry a new sort key. The caller keeps the order of entries.
    func setSort(_ entry: ViewEntry, _ sort: [UInt8]) throws {
        var new = entry
        new.sort = sort
        try run(self.sql.update, new, count: 3)
        note(entry, -1)
        note(new, 1)
        let change = ViewChanges<Group>.Row(
            original: try place(entry), final: try place(new), keptPlace: true, flags: [])
        changes.record(entry.rowID, change, rowsMax: changedRowsMax)
        if pageChanges.count > Self.pendingEntriesMax { try settle() }
    }

    /// Records that the query of these rows was replaced.
    func noteQuery() { changes.isQueryReplaced = true }

    func removeAll() throws {
        groups.removeAll()
        try tables.execute(sql.deleteAll)
        forgetEntries()
    }

    private func forgetEntries() {
        pageChanges = [:]
        (positions, pageStarts) = ([:], [:])
        changes.recordEverything()
    }

    /// Writes pages and counts.
    func settle() throws {
        guard !pageChanges.isEmpty else { return }
        let written = pageChanges
        pageChanges = [:]
        (positions, pageStarts) = ([:], [:])
        for id in try pages.apply(written).sorted() { groups.countAgain(id) }
        for id in try groups.writeCounts() { try pages.removeAll(ofGroup: id) }
    }

    /// Returns a closure that restores the state in memory after SQLite has restored the tables.
    func makeRestorePoint() -> () -> Void {
        let (groups, pageChanges, changes) = (groups, pageChanges, changes)
        return { [self] in
            (self.groups, self.pageChanges, self.changes) = (groups, pageChanges, changes)
            (positions, pageStarts) = ([:], [:])
        }
    }

    /// Returns the changes of the transaction, or nil if there are none.
    func changesSoFar() -> ViewChanges<Group>? {
        var changes = changes
        changes.newGroups = groups.newGroups
        changes.removedGroupIDs = groups.removedIDs
        return changes.isEmpty ? nil : changes
    }

    /// Runs a statement with the first values of an entry, and returns the number of changed rows.
    @discardableResult
    private func run(_ sql: String, _ entry: ViewEntry, count: Int) throws -> Int {
        let values: [YapDatabaseColumnValue] = [
            .integer(entry.rowID), .integer(entry.groupID), .blob(entry.sort),
        ]
        try tables.withStatement(sql, Array(values.prefix(count))) { try $0.run() }
        return tables.changedRowsCount
    }

    private func note(_ entry: ViewEntry, _ number: Int) {
        pageChanges[entry, default: 0] += number
        groups.changeCount(of: entry.groupID, by: number)
    }

    private func record(
        _ rowID: Int64, _ old: ViewEntry?, _ new: ViewEntry?, _ flags: YapDatabaseViewRowChange.Flags
    ) throws {
        let change = ViewChanges<Group>.Row(
            original: try old.map(place), final: try new.map(place), keptPlace: old == new, flags: flags)
        changes.record(rowID, change, rowsMax: changedRowsMax)
    }

    private func place(_ entry: ViewEntry) throws -> ViewChanges<Group>.Place {
        ViewChanges.Place(group: try groups.group(entry.groupID), sort: entry.sort)
    }
}
