import CSQLite

/// A version of the SQLite library.
public struct SQLiteVersion: Hashable, Sendable {
    /// In SQLite's notation, for example "3.40.1".
    public let text: String
    private let parts: [Int]

    /// Version of the loaded library.
    public static let loaded = SQLiteVersion(number: Int(sqlite3_libversion_number()))

    /// Parses a version. Nil if the text isn't one.
    public init?(_ text: String) {
        let parts = text.split(separator: ".").map { Int($0) }
        guard parts.count >= 3, !parts.contains(nil) else { return nil }
        self.init(text: text, parts: parts.compactMap { $0 })
    }

    private init(number: Int) {
        self.init(
            text: Connection.libraryVersion, parts: [number / 1_000_000, number / 1000 % 1000, number % 1000])
    }

    private init(text: String, parts: [Int]) {
        self.text = text
        self.parts = parts
    }

    /// True if it loses commits when one restarts the log while a checkpoint starts (https://www.sqlite.org/wal.html,
    /// "The WAL-Reset Bug"). `Connection.checkpoint` prevents that in all versions.
    public var hasWALResetBug: Bool {
        func isBefore(_ other: [Int]) -> Bool { parts.lexicographicallyPrecedes(other) }
        guard !isBefore([3, 7, 0]), isBefore([3, 51, 3]) else { return false }
        let mended = [[3, 44, 6], [3, 50, 7]]
        return !mended.contains { parts[..<2] == $0[..<2] && !isBefore($0) }
    }
}
