import SQLite

/// Counted pages of a view's groups in one transaction. They give the index of an entry, and the entry at an index,
/// without counting all entries.
///
/// A page covers the entries from its first one up to the first one of the next page; the first page of a group
/// begins before every entry. A page that is too large is split, and a small one is merged with the previous page.
struct ViewPages {
    /// Maximum entries of a page. At 512, finding an index in 100,000 entries reads about 300 rows of pages and 256
    /// entries.
    static let entriesMax = 512
    /// Entries of each page after a split.
    static let entriesAfterSplit = 256
    /// A page with fewer entries is merged with the previous one.
    static let entriesMin = 64

    /// Thrown if a page or a group has an impossible number of entries, because the file is damaged.
    struct DamagedCounts: Error {}

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

    /// The current pages of one group.
    struct Positions {
        fileprivate let starts: [ViewEntry]
        /// Number of entries before each page, and after the last one.
        fileprivate let countsBefore: [Int]

        /// Number of entries of the group.
        var count: Int { countsBefore.last ?? 0 }

        /// Returns where to find the entry at an index, from 0 up to `count`: an entry, and its distance to the
        /// requested one.
        func start(at index: Int) -> (entry: ViewEntry, offset: Int)? {
            guard index < count else { return nil }
            let page = partitioningIndex(below: starts.count) { countsBefore[$0] <= index } - 1
            return (starts[page], index - countsBefore[page])
        }

        /// Returns the page of an entry, and the number of entries before the page.
        fileprivate func page(of entry: ViewEntry) -> (start: ViewEntry, countBefore: Int)? {
            guard !starts.isEmpty else { return nil }
            let page = max(0, partitioningIndex(below: starts.count) { starts[$0] <= entry } - 1)
            return (starts[page], countsBefore[page])
        }
    }

    /// - Throws: `YapDatabaseError`: `corrupt` for a page with more entries than its maximum.
    func positions(ofGroup groupID: Int64) throws -> Positions {
        try tables.withStatement(sql.pages, [.integer(groupID)]) { statement in
            var (starts, countsBefore, count): ([ViewEntry], [Int], Int) = ([], [], 0)
            while try statement.step() {
                let page = Self.page(groupID, statement)
                guard 0...Self.entriesMax ~= page.count else {
                    throw YapDatabaseError(
                        .corrupt,
                        "a page of a view counts \(page.count) rows: register the view with another version")
                }
                starts.append(page.start)
                countsBefore.append(count)
                count += page.count
            }
            return Positions(starts: starts, countsBefore: countsBefore + [count])
        }
    }

    /// Returns the beginnings of a group's pages. Their counts may be damaged.
    func starts(ofGroup groupID: Int64) throws -> [ViewEntry] {
        try tables.withStatement(sql.pages, [.integer(groupID)]) { statement in
            var starts: [ViewEntry] = []
            while try statement.step() { starts.append(Self.page(groupID, statement).start) }
            return starts
        }
    }

    /// Returns the number of entries of the group before `entry`, which needn't exist.
    func index(of entry: ViewEntry, _ positions: Positions) throws -> Int {
        guard let (start, countBefore) = positions.page(of: entry) else { return 0 }
        let values = Self.values(start) + Self.values(entry).dropFirst()
        return try tables.withStatement(sql.countBetween, values) {
            try $0.step() ? countBefore + Int($0.int64(at: 0)) : countBefore
        }
    }

    // MARK: Changing

    /// Updates the pages for the entries that were added and removed since the last call.
    ///
    /// - Parameter changes: 1 for an added entry, -1 for a removed one.
    /// - Returns: The groups with damaged pages. They are counted again.
    func apply(_ changes: [ViewEntry: Int]) throws -> Set<Int64> {
        let changes = changes.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        var place = 0
        var damaged: Set<Int64> = []
        while place < changes.count {
            let first = changes[place].key
            let groupID = first.groupID
            do {
                var page = try page(covering: first)
                let end = try neighbour(sql.pageAfter, of: page)?.start
                while place < changes.count, changes[place].key.groupID == groupID,
                    end.map({ changes[place].key < $0 }) ?? true
                {
                    page.count += changes[place].value
                    place += 1
                }
                try write(page)
            } catch is DamagedCounts {
                damaged.insert(groupID)
                while place < changes.count, changes[place].key.groupID == groupID { place += 1 }
            }
        }
        for groupID in damaged.sorted() { try countAgain(groupID) }
        return damaged
    }

    /// Creates the pages of a group again from its entries.
    private func countAgain(_ groupID: Int64) throws {
        try removeAll(ofGroup: groupID)
        var page = Page(start: ViewEntry(groupID: groupID, sort: [], rowID: .min), count: 0)
        while let next = try entry(Self.entriesAfterSplit, after: page.start) {
            page.count = Self.entriesAfterSplit
            try insert(page)
            page = Page(start: next, count: 0)
        }
        page.count = try count(from: page.start)
        if page.count > 0 { try insert(page) }
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
        guard page.count >= 0 else { throw DamagedCounts() }
        var page = page
        while page.count > Self.entriesMax {
            guard let middle = try entry(Self.entriesAfterSplit, after: page.start) else {
                throw DamagedCounts()
            }
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

    /// Returns the number of entries of a group from one on: fewer than two pages hold.
    private func count(from start: ViewEntry) throws -> Int {
        let values = Self.values(start) + [.integer(Int64(Self.entriesMax)), .integer(0)]
        return try tables.withStatement(sql.entries, values) { statement in
            var count = 0
            while try statement.step() { count += 1 }
            return count
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
            guard try statement.step() else { return nil }
            let page = Self.page(entry.groupID, statement)
            guard 0...Self.entriesMax ~= page.count else { throw DamagedCounts() }
            return page
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
