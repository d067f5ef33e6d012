import Foundation
import System

/// Writes to the terminal without buffering, so that viewers and pipes see each line at once.
enum Output {
    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    static func line(_ text: String) {
        write(text + "\n")
    }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// One line of JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
    }
}

/// Days and times as this machine's people write them.
enum Clock {
    static func now() -> Int64 { SystemTimeSource().nowMilliseconds() }

    /// As `2026-01-31`.
    static func today() -> String { format(now(), "%Y-%m-%d") }

    /// As `2026-01-31 13:37:00`.
    static func text(_ milliseconds: Int64) -> String { format(milliseconds, "%Y-%m-%d %H:%M:%S") }

    /// As `13:37:00`.
    static func time(_ milliseconds: Int64) -> String { format(milliseconds, "%H:%M:%S") }

    private static func format(_ milliseconds: Int64, _ form: String) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var bytes = [CChar](repeating: 0, count: 64)
        let count = strftime(&bytes, bytes.count, form, &parts)
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
