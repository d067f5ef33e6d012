import CloudWire
import Foundation

/// What happened in a run: a line an event, in columns of time, place, what it did, and what the server has after it.
package struct Trace {
    /// A line of it.
    package struct Line {
        var milliseconds: Int64
        var place: String
        var what: String
        var held: String

        var text: String {
            let seconds = String(format: "%9.3f", Double(milliseconds) / 1000)
            let columns = "\(seconds)  \(place.padding(toLength: 9, withPad: " ", startingAt: 0))  \(what)"
            return held.isEmpty
                ? columns
                : columns.padding(toLength: max(columns.count, 90), withPad: " ", startingAt: 0) + "  | "
                    + held
        }
    }

    /// The lines that are kept; the hash is over all.
    static let linesMax = 20_000

    /// Whether lines are kept, and hashed. Without it a run costs less.
    let isKept: Bool
    package private(set) var lines: [Line] = []
    private var hashing = FNV1a()
    package var hash: UInt64 { hashing.hash }
    private var startMilliseconds: Int64?

    init(isKept: Bool) {
        self.isKept = isKept
    }

    mutating func note(_ now: Int64, _ place: String, _ what: String, held: String = "") {
        guard isKept else { return }
        let start = startMilliseconds ?? now
        startMilliseconds = start
        let line = Line(milliseconds: now - start, place: place, what: what, held: held)
        let text = line.text
        hashing.add(text)
        hashing.add(UInt8(ascii: "\n"))
        if lines.count < Self.linesMax { lines.append(line) }
    }

    /// All lines as text.
    package var text: String { lines.map(\.text).joined(separator: "\n") }

    package var hashText: String {
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
