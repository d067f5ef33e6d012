import Foundation
import System
import Yap

/// What it takes to fill extensions with rows that exist.
func fillLines() -> [Line] {
    [
        // Rows are read and decoded once for all extensions: four take at most 1.3 times as long as one.
        Line(name: "yap.fill.four", unit: "rows/s", bar: 1 / 1.3, roundsCount: 3) { try FillRun(in: $0) },
        Line(name: "yap.fill.million", unit: "writes/s", roundsCount: 1) { FillMillionRun($0) },
    ]
}

/// Four indexes are filled at once, against one.
private final class FillRun: LineRun {
    private static let rowsCount = 100_000

    private let database: YapDatabase

    init(in folder: URL) throws {
        database = try Ours.database(in: folder)
        let workload = try Workload(rowsCount: Self.rowsCount)
        try database.newConnection().blocking.readWrite { try $0.setAll(workload) }
    }

    func ours() async throws -> Double { try await fill(FilledIndexes.four) }

    func reference() async throws -> Double { try await fill([FilledIndexes.four[0]]) }

    private func fill(_ indexes: [YapDatabaseSecondaryIndex<Note>]) async throws -> Double {
        let start = Date()
        try await FilledIndexes.register(indexes, in: database)
        let seconds = Date().timeIntervalSince(start)
        for index in indexes { try await database.unregister(index.name) }
        return Double(Self.rowsCount) / seconds
    }
}

/// Writes of one row each beside the filling of four indexes with 1,000,000 rows, against the same writes alone. It
/// runs in a process of its own, whose memory is measured.
private final class FillMillionRun: LineRun {
    private static let rowsCount = 1_000_000
    private static let waitMillisecondsMax = 50.0
    private static let residentMegabytesMax = 200.0

    private let folder: URL
    private var measured: FillMeasure?

    init(_ folder: URL) { self.folder = folder }

    func ours() throws -> Double { try measure().besidesFilling }

    func reference() throws -> Double { try measure().alone }

    private func measure() throws -> FillMeasure {
        if let measured { return measured }
        let child = try ChildProcess(
            ChildProcess.ownPath, [ChildMode.fillIndexes, folder.path, "\(Self.rowsCount)"])
        defer { child.end() }
        let line = child.readLine()
        guard let result = FillMeasure(line) else { throw BenchError("the filling printed \"\(line)\"") }
        measured = result
        return result
    }

    func remarks() throws -> [LineRemark] {
        let result = try measure()
        return [
            LineRemark(
                text: String(
                    format:
                        "filling four indexes took %.1f s; the longest write beside it %.0f ms (aim %.0f), the 99th "
                        + "of 100 %.1f ms; at most %.0f MB (aim %.0f)", result.seconds,
                    result.longestMilliseconds,
                    Self.waitMillisecondsMax, result.p99Milliseconds, result.peakMegabytes,
                    Self.residentMegabytesMax),
                passes: result.longestMilliseconds <= Self.waitMillisecondsMax
                    && result.peakMegabytes <= Self.residentMegabytesMax)
        ]
    }
}

/// What a process has measured while it filled indexes.
struct FillMeasure {
    /// One-row transactions in a second, beside the filling and without it.
    var besidesFilling: Double
    var alone: Double
    var seconds: Double
    var longestMilliseconds: Double
    var p99Milliseconds: Double
    var peakMegabytes: Double

    var line: String {
        "\(besidesFilling) \(alone) \(seconds) \(longestMilliseconds) \(p99Milliseconds) \(peakMegabytes)"
    }
}

extension FillMeasure {
    init?(_ line: String) {
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 6 else { return nil }
        self.init(
            besidesFilling: numbers[0], alone: numbers[1], seconds: numbers[2],
            longestMilliseconds: numbers[3], p99Milliseconds: numbers[4], peakMegabytes: numbers[5])
    }
}

/// The indexes that are filled.
enum FilledIndexes {
    static let four: [YapDatabaseSecondaryIndex<Note>] = [
        index("byTitle") { $0.column(\.title) }, index("byPriority") { $0.column(\.priority) },
        index("byDate") { $0.column(\.modified) }, index("byProject") { $0.column(\.project) },
    ]

    private static func index(
        _ name: String, _ describe: (inout YapDatabaseIndexColumns<Note>) -> Void
    ) -> YapDatabaseSecondaryIndex<Note> {
        YapDatabaseSecondaryIndex(name, of: Note.self, in: Workload.collection, version: "1", describe)
    }

    /// Registers them at the same time, so that they are filled together.
    static func register(_ indexes: [YapDatabaseSecondaryIndex<Note>], in database: YapDatabase) async throws
    {
        try await withThrowingTaskGroup { group in
            for index in indexes { group.addTask { try await database.register(index) } }
            try await group.waitForAll()
        }
    }
}

/// Fills the indexes with many rows while it writes.
enum FillMillion {
    private static let batchCount = 10_000

    static func run(folder: URL, rowsCount: Int) async throws -> FillMeasure {
        let database = try Ours.database(in: folder)
        let connection = database.newConnection()
        let notes = try Workload(rowsCount: batchCount).notes
        for batch in 0..<rowsCount / batchCount {
            try await connection.readWrite { transaction in
                for (number, var note) in notes.enumerated() {
                    note.title = "Note number \(batch * batchCount + number)"
                    try transaction.setObject(
                        note, forKey: "\(batch)-\(number)", inCollection: Workload.collection)
                }
            }
        }
        let alone = try await writes(connection, notes, isEnough: { $0 >= 1_000 })
        // The peak is counted from here on (proc(5), clear_refs).
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let start = Date()
        let hasEnded = Lock(false)
        async let registered: Void = {
            defer { hasEnded.withLock { $0 = true } }
            try await FilledIndexes.register(FilledIndexes.four, in: database)
        }()
        let beside = try await writes(connection, notes, isEnough: { _ in hasEnded.withLock { $0 } })
        try await registered
        let seconds = Date().timeIntervalSince(start)
        let sorted = beside.sorted()
        return FillMeasure(
            besidesFilling: Double(beside.count) / beside.reduce(0, +),
            alone: Double(alone.count) / alone.reduce(0, +), seconds: seconds,
            longestMilliseconds: (sorted.last ?? 0) * 1000,
            p99Milliseconds: (sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100]) * 1000,
            peakMegabytes: Double(try ChildProcess.peakBytes(of: getpid())) / 1e6)
    }

    /// Writes one row after another, and returns how many seconds each took.
    private static func writes(
        _ connection: YapDatabaseConnection, _ notes: [Note], isEnough: (Int) -> Bool
    ) async throws -> [Double] {
        var seconds: [Double] = []
        while !isEnough(seconds.count) {
            let number = seconds.count
            let start = Date()
            try await connection.readWrite { transaction in
                try transaction.setObject(
                    notes[number % notes.count], forKey: "0-\(number % notes.count)",
                    inCollection: Workload.collection)
            }
            seconds.append(Date().timeIntervalSince(start))
        }
        return seconds
    }
}
