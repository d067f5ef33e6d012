import Dispatch
import System
import Yap

/// `yap db watch`: prints commits as they are made.
enum WatchCommand {
    /// Maximum rows named in one print.
    static let namedRowsMax = 1_000

    static let command = Command(
        name: "db watch", summary: "print the changes in an app's database as they are committed",
        details: """
            By all processes that write the file, until Ctrl-C. The file is read and not changed; a small file beside
            it (its name and -notify), through which processes notify each other, is created if there is none.

            After a commit all rows are read and compared with fingerprints of those before: about 100 bytes of memory
            for a row, up to 2 million rows. Commits that follow closely are printed together, as one change, the more
            the longer the reading takes: it takes up to half of the time. A row that was touched, or written with the
            same bytes, isn't a change. A print names up to 1,000 rows.
            """,
        operands: [Command.Operand(name: "FILE", help: "the app's database file")],
        options: [
            Command.Option(name: "collection", value: "NAME", help: "only the rows of this collection"),
            Command.Option(
                name: "seconds", value: "NUMBER", help: "end after this many seconds (default: never)"),
            Command.Option(
                name: "limit", value: "NUMBER", help: "end after this many prints (default: never)"),
        ] + KeyOptions.options,
        json: """
            a line at the start, {"file", "commit"}, and one for each print: {"commit", "commits", "changes":
            [{"collection", "inserted": [key], "updated", "removed"}], "unnamed"}: commits, how many it is about;
            unnamed, how many rows more changed
            """,
        examples: [
            "db watch phone.yap --seconds 1", "db watch phone.yap --collection todos --seconds 1 --json",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let device = try invocation.deviceFile(console)
        let seconds = try invocation.number("seconds", in: 1...86_400_000)
        let limit = try invocation.number("limit", in: 1...1_000_000_000) ?? .max
        let wakes = WatchWakes(seconds: seconds)
        wakes.endAtSignals()
        try device.opening {
            let file = try device.openForReading()
            // The watch starts first, so that no commit is missed before the first reading.
            let watch = try DatabaseFileWatch(path: device.path) { wakes.noteCommit() }
            defer { watch.end() }
            var rows = RowFingerprints(collection: invocation.value("collection"))
            var commit = try file.read {
                _ = try rows.update(from: file)
                return try file.snapshot()
            }
            let printer = WatchPrinter(console, isJSON: invocation.has("json"))
            try printer.begin(device.path, commit)
            let clock = SystemMonotonicSource()
            var printsCount = 0
            while printsCount < limit, wakes.wait() {
                let start = clock.elapsedMilliseconds()
                let (newest, changes) = try file.read { (try file.snapshot(), try rows.update(from: file)) }
                if newest > commit || !changes.isEmpty {
                    try printer.print(commit, newest, changes)
                    printsCount += 1
                }
                commit = newest
                if !wakes.pause(milliseconds: clock.elapsedMilliseconds() - start) { break }
            }
        }
    }
}

/// Events that wake the command: commits, a signal that ends it, and the end of its time.
final class WatchWakes: Sendable {
    private struct State {
        var hasCommits = false
        var isEnded = false
    }

    private let state = Lock(State())
    private let changed = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let deadline: DispatchTime

    init(seconds: Int?) {
        deadline = seconds.map { Self.time(afterMilliseconds: Int64($0) * 1000) } ?? .distantFuture
    }

    /// Dispatch's uptime uses the same clock.
    private static func time(afterMilliseconds milliseconds: Int64) -> DispatchTime {
        let time = SystemMonotonicSource().elapsedMilliseconds() + milliseconds
        return DispatchTime(uptimeNanoseconds: UInt64(clamping: time) * 1_000_000)
    }

    /// Makes Ctrl-C and SIGTERM end the waiting.
    func endAtSignals() {
        let signals = StopSignals()
        DispatchQueue(label: "yap.watch.signals").async {
            signals.wait()
            self.end()
        }
    }

    func noteCommit() {
        let isNew = state.withLock { state in
            defer { state.hasCommits = true }
            return !state.hasCommits
        }
        if isNew { changed.signal() }
    }

    func end() {
        state.withLock { $0.isEnded = true }
        ended.signal()
        changed.signal()
    }

    /// Waits for commits. Returns false at the end.
    func wait() -> Bool {
        guard changed.wait(timeout: deadline) == .success else { return false }
        return state.withLock { state in
            state.hasCommits = false
            return !state.isEnded
        }
    }

    /// Waits for a time. Returns false at the end.
    func pause(milliseconds: Int64) -> Bool {
        guard milliseconds > 0 else { return true }
        let pause = Self.time(afterMilliseconds: milliseconds)
        return ended.wait(timeout: min(pause, deadline)) == .timedOut && pause < deadline
    }
}

/// Prints changes as text, a line for each row, or as JSON, a line for each print.
struct WatchPrinter {
    private let console: Console
    private let isJSON: Bool

    init(_ console: Console, isJSON: Bool) { (self.console, self.isJSON) = (console, isJSON) }

    func begin(_ path: String, _ commit: UInt64) throws {
        let json = JSON.object([("file", .string(path)), ("commit", .integer(Int64(clamping: commit)))])
        try console.print(isJSON ? json.text : "\(Shown.word(path)): watching from commit \(commit) on")
    }

    func print(_ before: UInt64, _ commit: UInt64, _ changes: [RowFingerprints.ChangedRow]) throws {
        let named = changes.prefix(WatchCommand.namedRowsMax)
        let unnamed = changes.count - named.count
        let commits = commit > before ? commit - before : 0
        if isJSON { return try console.print(json(commit, commits, named, unnamed: unnamed)) }
        let title = commits > 1 ? "commits \(before + 1) to \(commit)" : "commit \(commit)"
        if changes.isEmpty { return try console.print("\(title): no row changed") }
        for row in named {
            try console.print(
                "\(title): \(row.change.rawValue) \(Shown.word(row.collection)) \(Shown.word(row.key))")
        }
        if unnamed > 0 { try console.print("\(title): \(unnamed) rows more") }
    }

    private func json(
        _ commit: UInt64, _ commits: UInt64, _ named: ArraySlice<RowFingerprints.ChangedRow>, unnamed: Int
    ) -> JSON {
        var collections: [(name: String, rows: [RowFingerprints.ChangedRow])] = []
        for row in named {
            if let last = collections.last, last.name.utf8.elementsEqual(row.collection.utf8) {
                collections[collections.count - 1].rows.append(row)
            } else {
                collections.append((row.collection, [row]))
            }
        }
        let changes = collections.map { collection in
            JSON.object(
                [("collection", .string(collection.name))]
                    + [.inserted, .updated, .removed].map { (kind: RowFingerprints.Change) in
                        let keys = collection.rows.filter { $0.change == kind }.map { JSON.string($0.key) }
                        return (kind.rawValue, JSON.array(keys))
                    })
        }
        return .object([
            ("commit", .integer(Int64(clamping: commit))), ("commits", .integer(Int64(clamping: commits))),
            ("changes", .array(changes)), ("unnamed", .integer(Int64(unnamed))),
        ])
    }
}
