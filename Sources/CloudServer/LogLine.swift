import System

/// One line of the log: a JSON object with members in insertion order.
struct LogLine {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// Adds a text. Nil adds nothing.
    ///
    /// - Parameter bytesMax: maximum bytes to write of a client's text. A character may have any number of
    ///   bytes.
    mutating func put(_ key: StaticString, _ text: String?, bytesMax: Int = .max) {
        guard let text else { return }
        begin(key)
        bytes.append(UInt8(ascii: "\""))
        var left = bytesMax
        for scalar in text.unicodeScalars {
            left -= UTF8.width(scalar)
            guard left >= 0 else { break }
            append(scalar)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Adds an integer. Nil adds nothing.
    mutating func put(_ key: StaticString, _ number: Int?) {
        guard let number else { return }
        begin(key)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds integers by CloudKit's codes, which need no escaping.
    mutating func put(_ key: StaticString, _ counts: [String: Int]) {
        begin(key)
        let members = counts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        bytes.append(contentsOf: "{\(members.joined(separator: ","))}".utf8)
    }

    /// Adds microseconds as milliseconds with three decimals.
    mutating func put(_ key: StaticString, milliseconds microseconds: Int64) {
        begin(key)
        let microseconds = max(0, microseconds)
        let fraction = String(microseconds % 1000 + 1000).dropFirst()
        bytes.append(contentsOf: "\(microseconds / 1000).\(fraction)".utf8)
    }

    /// Returns the line with its line end.
    consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func begin(_ key: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Escapes control and formatting characters, so that an entry is one line on every terminal.
    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"", "\\":
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        case " "..."~":
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                for unit in UTF16.encode(scalar) ?? .init() { escape(unit) }
            default:
                bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
            }
        }
    }

    private mutating func escape(_ unit: UInt16) {
        bytes.append(contentsOf: "\\u\(Hex.text([UInt8(unit >> 8), UInt8(unit & 0xFF)]))".utf8)
    }
}

/// Returns a time such as `2026-11-20T18:00:00.123Z`.
func logTime(milliseconds: Int64) -> String {
    CivilTime(milliseconds: milliseconds).text(withMilliseconds: true)
}
