import System
import Yap

/// `yap db query`: the rows of a collection that match a condition.
enum QueryCommand {
    /// Maximum rows kept for sorting.
    static let sortedRowsMax = 500_000
    static let sortedBytesMax = 256 << 20
    /// Rows beyond twice the limit that are kept before the last ones are dropped.
    static let slackRows = 1_000
    private static let secondsDefault = 60

    static let command = Command(
        name: "db query", summary: "print the objects of a collection that match a condition",
        details: """
            The file is read and not changed, also while an app has it open. All rows of the collection are read: no
            index is used. A condition compares properties with values or with each other:
              priority >= 3 and list == "home"          and, or, not, and parentheses; also && || !
              = == != < <= > >=                         numbers with numbers; texts with texts, by their bytes
              title contains "milk", tags contains "a"  a part of a text, an element of an array; beginswith, endswith
              list in ("home", "work"), due is not null
              isDone, not isDone                        whether a property is true
              place.city, tags[0], tags[-1]             properties in properties, elements of arrays
              $key beginswith "a", $metadata.seen > 3   the row's key and its metadata
              due < 2026-11-25, `a name` == 2           a time in UTC for a date; a name with other characters
            Properties have the names by which they are stored, as db get shows them. An absent property equals null.
            In an order, rows without the property come first.
            """,
        operands: [
            Command.Operand(name: "FILE", help: "the app's database file"),
            Command.Operand(name: "COLLECTION", help: "the collection"),
        ],
        options: [
            Command.Option(
                name: "where", value: "CONDITION", help: "only matching rows", repeats: true),
            Command.Option(
                name: "sort", value: "PROPERTY",
                help: "sort by this property; -PROPERTY for the largest first",
                repeats: true),
            Command.Option(name: "limit", value: "NUMBER", help: "maximum number of rows"),
            Command.Option(name: "count", help: "print only the number of rows"),
            Command.Option(
                name: "seconds", value: "NUMBER",
                help: "how long to search (default: \(secondsDefault)); an app's log grows meanwhile"),
        ] + KeyOptions.options,
        json: #"lines as db dump's; with --count {"count"}"#,
        examples: [
            "db query phone.yap todos --where 'weight >= 0.5 and title contains \"g\"'",
            "db query phone.yap todos --sort -title --limit 20 --json",
            "db query phone.yap todos --where 'due is not null' --count",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let (path, collection) = (invocation.operands[0], invocation.operands[1])
        let conditions = try invocation.values("where").map { text in
            try placed("--where", text) { try RowFilterParser.condition(text) }
        }
        let orders = try invocation.values("sort").map { text in
            try placed("--sort", text) { try RowOrder(text) }
        }
        let limit = try invocation.number("limit", in: 1...1_000_000_000)
        let seconds = try invocation.number("seconds", in: 1...86_400) ?? secondsDefault
        let isCount = invocation.has("count")
        var search = RowSearch(
            .all(conditions), isCount ? [] : orders, limit: limit, seconds: seconds, Progress(console))
        let isJSON = invocation.has("json")
        func print(_ row: DatabaseFile.Row) throws {
            try console.print(isJSON ? row.json.text : "\(Shown.word(row.key))  \(JSON(row.object).text)")
        }
        let device = try invocation.deviceFile(console)
        let isKnown = try device.read { file in
            try search.run(file, collection) { if !isCount { try print($0) } }
            return try search.rowsCount > 0 || file.collections().contains { $0.name == collection }
        }
        guard isKnown else {
            let names = try device.read { try $0.collections().map(\.name) }
            throw Failure.notThere(
                "\(Shown.word(path)) has no rows in \(Shown.word(collection)). "
                    + "\(Nearest.sentence(names.map(Shown.word), to: collection)).")
        }
        if isCount {
            let count = min(search.foundCount, limit ?? .max)
            try console.print(isJSON ? JSON.object([("count", .integer(Int64(count)))]).text : "\(count)")
        }
        noteUnknown(search, orders, collection, console)
    }

    /// Parses a condition or an order, or reports the mistake and its position.
    private static func placed<Value>(_ option: String, _ text: String, _ body: () throws -> Value) throws
        -> Value
    {
        do {
            return try body()
        } catch let error as PlaceError {
            throw Failure.usage("\(option) \(Shown.word(text)), column \(error.column): \(error.text)")
        }
    }

    /// Reports a property that no row has. Otherwise a mistyped property would look like an empty result.
    private static func noteUnknown(
        _ search: RowSearch, _ orders: [RowOrder], _ collection: String, _ console: Console
    ) {
        guard search.rowsCount > 0 else { return }
        for path in search.missingPaths {
            let names = search.names.map(Shown.word)
            console.note(
                "No row of \(Shown.word(collection)) that was read has \(Shown.word(path.text)). "
                    + "\(Nearest.sentence(names, to: path.text)).")
        }
    }
}

/// One `--sort`: a property, and whether the largest value comes first.
struct RowOrder {
    let path: RowPath
    let isDescending: Bool

    /// - Throws: `PlaceError`.
    init(_ text: String) throws {
        isDescending = text.hasPrefix("-")
        do {
            path = try RowFilterParser.path(isDescending ? String(text.dropFirst()) : text)
        } catch let error as PlaceError {
            throw PlaceError(column: error.column + (isDescending ? 1 : 0), text: error.text)
        }
    }
}

/// Searches a collection once, with bounded time and memory.
struct RowSearch {
    private let condition: RowFilter
    private let orders: [RowOrder]
    private let limit: Int?
    private let seconds: Int
    private let progress: Progress
    private let clock: any MonotonicSource

    /// Number of rows read.
    private(set) var rowsCount = 0
    /// Number of matching rows.
    private(set) var foundCount = 0
    /// Paths that no row has had.
    private(set) var missingPaths: [RowPath]
    /// Property names of the rows, up to a hundred.
    private(set) var names: Set<String> = []

    private var kept: [(row: DatabaseFile.Row, values: [StoredValue?])] = []
    private var keptBytes = 0

    init(
        _ condition: RowFilter, _ orders: [RowOrder], limit: Int?, seconds: Int, _ progress: Progress,
        clock: any MonotonicSource = SystemMonotonicSource()
    ) {
        (self.condition, self.orders, self.limit, self.seconds) = (condition, orders, limit, seconds)
        (self.progress, self.clock) = (progress, clock)
        var seen: Set<RowPath> = []
        missingPaths = (condition.paths + orders.map(\.path)).filter {
            $0.root != .key && seen.insert($0).inserted
        }
    }

    private struct Enough: Error {}

    /// Passes the rows to `body`: without an order in the order of their keys.
    mutating func run(
        _ file: DatabaseFile, _ collection: String, _ body: (DatabaseFile.Row) throws -> Void
    ) throws {
        let start = clock.elapsedMilliseconds()
        do {
            try file.forEachRow(inCollection: collection) { row in
                if rowsCount % 64 == 0 { try checkTime(since: start) }
                try add(row, body)
            }
        } catch is Enough {}
        sortKept()
        for entry in kept.prefix(limit ?? kept.count) { try body(entry.row) }
    }

    private func checkTime(since start: Int64) throws {
        try progress.step("searched \(rowsCount) rows")
        guard clock.elapsedMilliseconds() - start > Int64(seconds) * 1000 else { return }
        throw Failure.failed(
            "The search took longer than \(seconds) seconds, after \(rowsCount) rows: raise --seconds.")
    }

    private mutating func add(_ row: DatabaseFile.Row, _ body: (DatabaseFile.Row) throws -> Void) throws {
        rowsCount += 1
        note(row)
        guard condition.holds(for: row) else { return }
        foundCount += 1
        guard !orders.isEmpty else {
            try body(row)
            if foundCount == limit { throw Enough() }
            return
        }
        kept.append((row, orders.map { $0.path.value(in: row) }))
        keptBytes += row.bytesCount
        if let limit,
            kept.count >= 2 * limit + QueryCommand.slackRows || keptBytes > QueryCommand.sortedBytesMax
        {
            sortKept()
            if kept.count > limit { kept.removeSubrange(limit...) }
            keptBytes = kept.reduce(0) { $0 + $1.row.bytesCount }
        }
        guard kept.count <= QueryCommand.sortedRowsMax, keptBytes <= QueryCommand.sortedBytesMax else {
            throw Failure.failed(
                "These are more than \(QueryCommand.sortedRowsMax) rows or \(QueryCommand.sortedBytesMax >> 20) MB "
                    + "to sort: add --where, or a smaller --limit.")
        }
    }

    private mutating func note(_ row: DatabaseFile.Row) {
        if !missingPaths.isEmpty { missingPaths.removeAll { $0.value(in: row) != nil } }
        guard !missingPaths.isEmpty, names.count < 100, case .map(let entries) = row.object else { return }
        for case .text(let name) in entries.prefix(100).map(\.key) { names.insert(name) }
    }

    private mutating func sortKept() {
        kept.sort { [orders] left, right in
            for (index, order) in orders.enumerated() {
                let compared = StoredValueOrder.sorted(left.values[index], right.values[index])
                if compared != 0 { return order.isDescending ? compared > 0 : compared < 0 }
            }
            return left.row.key.utf8.lexicographicallyPrecedes(right.row.key.utf8)
        }
    }
}
