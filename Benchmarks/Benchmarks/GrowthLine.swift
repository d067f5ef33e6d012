import CBenchmarks
import Foundation
import System
import Yap

/// What each kind of work costs in a collection of 1,000,000 rows, against one of 10,000. An index, a view and a search
/// follow the rows. The kind that slows down most is compared with reads of the same rows in C, which slow down because
/// the larger file isn't in the processor's caches.
func growthLine() -> Line {
    // n log n of work for n rows is log n for each: 20 steps in place of 13.3.
    Line(name: "yap.growth", unit: "of the rate", bar: 13.3 / 20, roundsCount: 1) { GrowthRun($0) }
}

private final class GrowthRun: LineRun {
    private static let rowsCounts = (small: 10_000, large: 1_000_000)

    private let folder: URL
    private var measured: (small: GrowthMeasure, large: GrowthMeasure)?

    init(_ folder: URL) { self.folder = folder }

    func ours() throws -> Double { try ratios().dropFirst(GrowthMeasure.unboundCount).min() ?? 0 }

    func reference() throws -> Double {
        let (small, large) = try measure()
        return large.readsInC / small.readsInC
    }

    /// How many units of each kind of work the large collection does in the time in which the small one does one.
    private func ratios() throws -> [Double] {
        let (small, large) = try measure()
        return zip(large.rates, small.rates).map { $0 / $1 }
    }

    private func measure() throws -> (small: GrowthMeasure, large: GrowthMeasure) {
        if let measured { return measured }
        let both = (try measure(Self.rowsCounts.small), try measure(Self.rowsCounts.large))
        measured = both
        return both
    }

    private func measure(_ rowsCount: Int) throws -> GrowthMeasure {
        let child = try ChildProcess(
            ChildProcess.ownPath, [ChildMode.growth, folder.path, "\(rowsCount)"])
        defer { child.end() }
        let line = child.readLine()
        guard let result = GrowthMeasure(line) else { throw BenchError("the process printed \"\(line)\"") }
        return result
    }

    func remarks() throws -> [LineRemark] {
        let (small, large) = try measure()
        let rates = zip(GrowthMeasure.names, zip(try ratios(), large.rates)).map { name, numbers in
            String(format: "%.2f %@ (%.0f/s)", numbers.0, name, numbers.1)
        }
        return [
            LineRemark(text: rates.joined(separator: ", ")),
            LineRemark(
                text: String(
                    format:
                        "at most %.0f MB of memory with %d rows, %.0f MB with %d; %.0f bytes of file a row",
                    large.peakMegabytes, Self.rowsCounts.large, small.peakMegabytes, Self.rowsCounts.small,
                    large.fileBytes / Double(Self.rowsCounts.large))),
        ]
    }
}

/// What a process has measured in a collection of one size.
struct GrowthMeasure {
    static let names = [
        "bulk writes", "filling", "commits", "reads", "iteration", "index queries", "searches", "view reads",
    ]
    /// Kinds of work, the first ones, that have no bar: 500 rows drawn at random share pages in a small file, and in a
    /// large one each writes pages of its own to the disk.
    static let unboundCount = 1

    /// Units of each kind of work in a second.
    var rates: [Double]
    /// Rows in a second that C reads by their keys.
    var readsInC: Double
    var peakMegabytes: Double
    /// The size of the file with its log, in bytes.
    var fileBytes: Double

    var line: String {
        (rates + [readsInC, peakMegabytes, fileBytes]).map { "\($0)" }.joined(separator: " ")
    }
}

extension GrowthMeasure {
    init?(_ line: String) {
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == Self.names.count + 3 else { return nil }
        let count = Self.names.count
        self.init(
            rates: Array(numbers.prefix(count)), readsInC: numbers[count], peakMegabytes: numbers[count + 1],
            fileBytes: numbers[count + 2])
    }
}

/// A collection of one size, and the work in it.
struct GrowthWork {
    private static let batchCount = 10_000
    /// Rows that have a word in common.
    private static let rowsPerWord = 20
    private static let readsCount = 20_000
    private static let queriesCount = 1_000

    private let rowsCount: Int
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let notes: [Note]
    private let random = SeededRandomSource(seed: 21)
    private let index = YapDatabaseSecondaryIndex(
        "byTitle", of: Note.self, in: Workload.collection, version: "1"
    ) { $0.column(\.title) }
    private let view = YapDatabaseAutoView(
        "byProject", of: Note.self, in: Workload.collection, version: "1", group: { $0.project ?? "" },
        sort: [.by(\.title)])
    private let text = YapDatabaseFullTextSearch(
        "text", of: Note.self, in: Workload.collection, version: "1"
    ) { $0.column(\.body) }

    init(folder: URL, rowsCount: Int) throws {
        let own = folder.appendingPathComponent("\(rowsCount)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        self.rowsCount = rowsCount
        database = try Ours.database(in: own, durability: .normal, cachedRows: 0)
        connection = database.newConnection()
        notes = try Workload(rowsCount: Self.batchCount).notes
    }

    func measure() async throws -> GrowthMeasure {
        try writeAll()
        // The peak is counted from here on (proc(5), clear_refs).
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        let filling = try await fill()
        let rates = try [
            bulkWrites(), filling, commits(), reads(), iteration(), indexQueries(), searches(), viewReads(),
        ]
        let files = [database.path, database.path + "-wal"]
        let bytes = try files.reduce(0) { sum, path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return sum + Double(attributes[.size] as? Int ?? 0)
        }
        return GrowthMeasure(
            rates: rates, readsInC: try readsInC(),
            peakMegabytes: Double(try ChildProcess.peakBytes(of: getpid())) / 1e6,
            fileBytes: bytes)
    }

    private func note(_ number: Int, edition: Int = 0) -> Note {
        var note = notes[number % notes.count]
        note.title = "Note number \(number) \(edition)"
        note.body += " \(word(number))"
        return note
    }

    private func word(_ number: Int) -> String { "word\(number % (rowsCount / Self.rowsPerWord))" }

    private func anyRow() -> Int { random.next(in: 0..<rowsCount) }

    private func writeAll() throws {
        for start in stride(from: 0, to: rowsCount, by: Self.batchCount) {
            try connection.blocking.readWrite { transaction in
                for number in start..<min(start + Self.batchCount, rowsCount) {
                    try transaction.setObject(
                        note(number), forKey: "\(number)", inCollection: Workload.collection)
                }
            }
        }
    }

    private func fill() async throws -> Double {
        let start = ContinuousClock.now
        async let indexed: Void = database.register(index)
        async let viewed: Void = database.register(view)
        async let searched: Void = database.register(text)
        _ = try await (indexed, viewed, searched)
        return Double(rowsCount) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func write(_ count: Int, edition: Int, in transaction: YapDatabaseReadWriteTransaction) throws {
        for _ in 0..<count {
            let row = anyRow()
            try transaction.setObject(
                note(row, edition: edition), forKey: "\(row)", inCollection: Workload.collection)
        }
    }

    private func bulkWrites() throws -> Double {
        try rate(20 * 500) {
            for edition in 0..<20 {
                try connection.blocking.readWrite { try write(500, edition: edition, in: $0) }
            }
        }
    }

    private func commits() throws -> Double {
        try rate(1_000) {
            for edition in 0..<1_000 {
                try connection.blocking.readWrite { try write(1, edition: edition, in: $0) }
            }
        }
    }

    private func reads() throws -> Double {
        let keys = (0..<Self.readsCount).map { _ in "\(anyRow())" }
        return try rate(keys.count) { try connection.blocking.read { try $0.getAll(keys) } }
    }

    private func readsInC() throws -> Double {
        let sql = """
            SELECT data FROM database2 WHERE collection = '\(Workload.collection)' AND key = CAST(?1 AS TEXT)
            """
        guard let reader = query_open(database.path, sql) else {
            throw BenchError("the reference can't open \(database.path)")
        }
        defer { query_close(reader) }
        let keys = (0..<Self.readsCount).map { _ in Array("\(anyRow())".utf8) }
        var bytes: Int64 = 0
        return try rate(keys.count) {
            for key in keys where query_run(reader, 1, key, key.count, &bytes) != 1 {
                throw BenchError("the reference lacks a row")
            }
        }
    }

    private func iteration() throws -> Double {
        try rate(rowsCount) {
            try connection.blocking.read { transaction in
                for row in try transaction.objects(Note.self, inCollection: Workload.collection) {
                    consume(row.object)
                }
            }
        }
    }

    private func indexQueries() throws -> Double {
        let titles = (0..<Self.queriesCount).map { _ in note(anyRow()).title }
        return try rate(titles.count) {
            try connection.blocking.read { transaction in
                let query = try transaction[index]
                for title in titles {
                    _ = try query.keys(where: { $0.title >= title }, sort: [.by(\.title)], limit: 50)
                }
            }
        }
    }

    private func searches() throws -> Double {
        let words = (0..<Self.queriesCount).map { _ in word(anyRow()) }
        return try rate(words.count) {
            try connection.blocking.read { transaction in
                let search = try transaction[text]
                for word in words {
                    guard try search.keys(.words(word), limit: 50).count >= Self.rowsPerWord else {
                        throw BenchError("a search found too few rows")
                    }
                }
            }
        }
    }

    private func viewReads() throws -> Double {
        let places = (0..<Self.queriesCount).map { _ in random.next(in: 0..<rowsCount / 2 - 20) }
        return try rate(places.count) {
            try connection.blocking.read { transaction in
                let view = try transaction[view]
                for place in places {
                    guard try view.keys(in: "household", place..<place + 20).count == 20 else {
                        throw BenchError("the view has too few rows")
                    }
                }
            }
        }
    }
}
