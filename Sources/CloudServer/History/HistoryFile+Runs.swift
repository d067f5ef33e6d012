import SQLite

/// The time during which a server ran, in milliseconds since 1970.
struct HistoryRun: Hashable, Sendable {
    let start: Int64
    /// The last time at which it was known to run.
    let end: Int64
}

extension HistoryFile {
    /// Maximum runs kept, of up to a month.
    private static let runsMax = 1_000
    private static let runsMilliseconds: Int64 = 31 * 86_400_000

    /// Stores that the server started at `start` was running at `end`.
    func note(_ run: HistoryRun) throws {
        try connection.transaction(.immediate) {
            try connection.withStatement("INSERT OR REPLACE INTO runs (start, end) VALUES (?, ?)") {
                statement in
                try statement.bind(run.start, at: 1)
                try statement.bind(max(run.start, run.end), at: 2)
                try statement.run()
            }
            let old = """
                DELETE FROM runs WHERE end < ? OR start NOT IN
                (SELECT start FROM runs ORDER BY start DESC LIMIT \(Self.runsMax))
                """
            try connection.withStatement(old) { statement in
                try statement.bind(run.end - Self.runsMilliseconds, at: 1)
                try statement.run()
            }
        }
    }

    /// Returns the runs that ended at `milliseconds` or later, in order.
    func runs(from milliseconds: Int64) throws -> [HistoryRun] {
        try connection.withStatement("SELECT start, end FROM runs WHERE end >= ? ORDER BY start") {
            statement in
            try statement.bind(milliseconds, at: 1)
            var runs: [HistoryRun] = []
            while try statement.step() {
                runs.append(HistoryRun(start: statement.int64(at: 0), end: statement.int64(at: 1)))
            }
            return runs
        }
    }
}
