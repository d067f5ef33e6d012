import Foundation

/// Text of bounded length.
package enum Text {
    static let columnsMax = 400
    static let linesMax = 40

    /// On one line, with a maximum length.
    package static func bounded(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: "⏎")
        return line.count <= columnsMax ? line : line.prefix(columnsMax) + "…"
    }

    /// The first lines of a text, each with a maximum length.
    package static func lines(_ text: String, max: Int = linesMax) -> [String] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let rest = lines.count - max
        return lines.prefix(max).map { bounded(String($0)) } + (rest > 0 ? ["… \(rest) more lines"] : [])
    }

    package static func seconds(_ seconds: Double) -> String {
        seconds < 10 ? String(format: "%.1f s", seconds) : "\(Int(seconds.rounded())) s"
    }

    /// What explains the end of a process that has crashed, from its output.
    package static func crash(_ output: String) -> [String] {
        let lines = output.split(whereSeparator: \.isNewline).map(String.init)
        let marks = ["Fatal error:", "Program crashed:"]
        let start = lines.lastIndex { $0.contains(marks[0]) } ?? lines.lastIndex { $0.contains(marks[1]) }
        return (start.map { lines[$0...].prefix(linesMax) } ?? lines.suffix(linesMax / 2)).map(bounded)
    }
}
