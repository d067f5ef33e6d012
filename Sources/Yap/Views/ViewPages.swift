import SQLite

/// The counted pages of a view's groups, in one transaction: from them comes the index of an entry, and the entry at an
/// index, without counting all entries.
///
/// A page stands for the entries from its first one up to the first one of the next page; the first page of a group
/// begins before every entry. A page that is too large is split, a small one is joined to the one before it.
struct ViewPages {
    /// Maximum entries of a page. At 512, an index in 100,000 entries costs about 300 rows of pages and 256 entries.
    static let entriesMax = 512
    /// Entries of each page after a split.
    static let entriesAfterSplit = 256
    /// Pages of fewer entries are joined to the one before.
    static let entriesMin = 64

    private struct Page {
        var start: ViewEntry
        var count: Int
    }

    private let sql: ViewSQL
    private let tables: YapDatabaseExtensionTables

    init(_ sql: ViewSQL, _ tables: YapDatabaseExtensionTables) {
        self.sql = sql
        self.tables = tables
    }

    // MARK: Finding

    /// The pages of one group as they are now.
    struct Positions {
        fileprivate let starts: [ViewEntry]
        /// How many entries there are before each page, and after the last one.
        fileprivate let countsBefore: [Int]

        /// Number of entries of the group.
        var count: Int { countsBefore.last ?? 0 }

        /// Where to find the entry at an index, from 0 up to `count`: an entry, and how many follow it until then.
        func start(at index: Int) -> (entry: ViewEntry, offset: Int)? {
            guard index < count else { return nil }
            let page = partitioningIndex(below: starts.count) { countsBefore[$0] <= index } - 1
            return (starts[page], index - countsBefore[page])
        }

        /// The page that an entry belongs to, and how many entries are before the page.
        fileprivate func page(of entry: ViewEntry) -> (start: ViewEntry, countBefore: Int)? {
            guard !starts.isEmpty else { return nil }
            let page = max(0, partitioningIndex(below: starts.count) { starts[$0] <= entry } - 1)
            return (starts[page], countsBefore[page])
        }
    }

    func positions(ofGroup groupID: Int64) throws -> Positions {
        try tables.withStatement(sql.pages, [.integer(groupID)]) { statement in
            var (starts, countsBefore, count): ([ViewEntry], [Int], Int) = ([], [], 0)
            while try statement.step() {
                let page = Self.page(groupID, statement)
                starts.append(page.start)
                countsBefore.append(count)
                count += page.count
            }
            return Positions(starts: starts, countsBefore: countsBefore + [count])
        }
    }

    /// Returns how many entries of the group are before `entry`, which needn't exist.
    func index(of entry: ViewEntry, _ positions: Positions) throws -> Int {
        guard let (start, countBefore) = positions.page(of: entry) else { return 0 }
        let values = Self.values(start) + Self.values(entry).dropFirst()
        return try tables.withStatement(sql.countBetween, values) {
            try $0.step() ? countBefore + Int($0.int64(at: 0)) : countBefore
        }
    }

    // MARK: Changing

    /// Brings the pages to the entries that were added and removed since the last call.
    ///
    /// - Parameter changes: 1 for an added entry, -1 for a removed one.
    func apply(_ changes: [ViewEntry: Int]) throws {
        let changes = changes.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        var place = 0
        while place < changes.count {
            let first = changes[place].key
            var page = try page(covering: first)
            let end = try neighbour(sql.pageAfter, of: page)?.start
            while place < changes.count, changes[place].key.groupID == first.groupID,
                end.map({ changes[place].key < $0 }) ?? true
            {
                page.count += changes[place].value
                place += 1
            }
            try write(page)
        }
    }

    func removeAll(ofGroup groupID: Int64) throws {
        try tables.withStatement(sql.deletePages, [.integer(groupID)]) { try $0.run() }
    }

    private func page(covering entry: ViewEntry) throws -> Page {
        if let page = try first(sql.pageCovering, entry) { return page }
        let page = Page(start: ViewEntry(groupID: entry.groupID, sort: [], rowID: .min), count: 0)
        try insert(page)
        return page
    }

    private func write(_ page: Page) throws {
        var page = page
        while page.count > Self.entriesMax {
            guard let middle = try entry(Self.entriesAfterSplit, after: page.start) else { break }
            try setCount(Page(start: page.start, count: Self.entriesAfterSplit))
            page = Page(start: middle, count: page.count - Self.entriesAfterSplit)
            try insert(page)
        }
        if page.count < Self.entriesMin, var before = try neighbour(sql.pageBefore, of: page),
            page.count == 0 || before.count + page.count <= Self.entriesMax - Self.entriesMin
        {
            before.count += page.count
            try tables.withStatement(sql.deletePage, Self.values(page.start)) { try $0.run() }
            page = before
        }
        try setCount(page)
    }

    private func entry(_ offset: Int, after start: ViewEntry) throws -> ViewEntry? {
        let values = Self.values(start) + [.integer(1), .integer(Int64(offset))]
        return try tables.withStatement(sql.entries, values) { statement in
            guard try statement.step() else { return nil }
            return ViewEntry(
                groupID: start.groupID, sort: statement.bytes(at: 0), rowID: statement.int64(at: 1))
        }
    }

    private func insert(_ page: Page) throws {
        let values = Self.values(page.start) + [.integer(Int64(page.count))]
        try tables.withStatement(sql.insertPage, values) { try $0.run() }
    }

    private func setCount(_ page: Page) throws {
        let values = Self.values(page.start) + [.integer(Int64(page.count))]
        try tables.withStatement(sql.setPageCount, values) { try $0.run() }
    }

    private func neighbour(_ sql: String, of page: Page) throws -> Page? { try first(sql, page.start) }

    private func first(_ sql: String, _ entry: ViewEntry) throws -> Page? {
        try tables.withStatement(sql, Self.values(entry)) { statement in
            try statement.step() ? Self.page(entry.groupID, statement) : nil
        }
    }

    private static func page(_ groupID: Int64, _ statement: borrowing Statement) -> Page {
        Page(
            start: ViewEntry(
                groupID: groupID, sort: statement.bytes(at: 0), rowID: statement.int64(at: 1)),
            count: Int(statement.int64(at: 2)))
    }

    private static func values(_ entry: ViewEntry) -> [YapDatabaseColumnValue] {
        [.integer(entry.groupID), .blob(entry.sort), .integer(entry.rowID)]
    }
}
