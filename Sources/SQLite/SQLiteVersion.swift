import CSQLite

/// A version of the SQLite library.
public struct SQLiteVersion: Hashable, Sendable {
    /// As SQLite writes it, such as "3.40.1".
    public let text: String
    private let parts: [Int]

    /// The version that is loaded.
    public static let loaded = SQLiteVersion(number: Int(sqlite3_libversion_number()))

    /// Reads a version; nil when it isn't one.
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

    /// Whether it loses commits when one begins the log anew while a checkpoint starts
    /// (https://www.sqlite.org/wal.html, "The WAL-Reset Bug"). `Connection.checkpoint` lets that happen in none.
    public var hasWALResetBug: Bool {
        func isBefore(_ other: [Int]) -> Bool { parts.lexicographicallyPrecedes(other) }
        guard !isBefore([3, 7, 0]), isBefore([3, 51, 3]) else { return false }
        let mended = [[3, 44, 6], [3, 50, 7]]
        return !mended.contains { parts[..<2] == $0[..<2] && !isBefore($0) }
    }
}
