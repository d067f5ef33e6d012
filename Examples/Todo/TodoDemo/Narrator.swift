import Foundation

/// Prints events: the actor in one column, the event in the other.
struct Narrator {
    private static let whoColumns = 8

    /// A heading between two blank lines.
    func chapter(_ title: String) {
        Narrator.write("\n\(title)\n")
    }

    /// One event.
    func say(_ who: String, _ what: String) {
        Narrator.write("  \(Narrator.padded(who, to: Self.whoColumns))\(what)")
    }

    /// A sentence of its own, with a blank line after it.
    func say(_ what: String) {
        Narrator.write("  \(what)\n")
    }

    /// Prints a table. The first row is its head; each column is as wide as its widest cell, up to `columnsMax`.
    func table(_ rows: [[String]], columnsMax: Int = 46) {
        guard let head = rows.first else { return }
        let cells = rows.map { $0.map { Narrator.cut($0, to: columnsMax) } }
        let widths = head.indices.map { column in cells.map { Narrator.columns($0[column]) }.max() ?? 0 }
        for (index, row) in cells.enumerated() {
            var line = ""
            for (cell, width) in zip(row, widths) { line += Narrator.padded(cell, to: width) + "  " }
            Narrator.write("  " + line.trimmingSpacesAtEnd)
            if index == 0 {
                let rules = widths.map { String(repeating: "-", count: $0) }
                Narrator.write("  " + rules.joined(separator: "  "))
            }
        }
        Narrator.write("")
    }

    // Unbuffered, so that each line is visible when it happens.
    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// A number with its thousands apart: 1,200.
    static func count(_ number: Int) -> String {
        var digits = String(number)
        var index = digits.index(digits.endIndex, offsetBy: -3, limitedBy: digits.startIndex)
        while let place = index, place > digits.startIndex {
            digits.insert(",", at: place)
            index = digits.index(place, offsetBy: -3, limitedBy: digits.startIndex)
        }
        return digits
    }

    /// A number and its noun: 1 item, 1,200 items.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// The text, cut with an ellipsis where it is too long.
    static func cut(_ text: String, to columnsMax: Int) -> String {
        var rest = text
        guard columns(rest) > columnsMax else { return rest }
        while columns(rest) > columnsMax - 1 { rest.removeLast() }
        return rest + "…"
    }

    private static func padded(_ text: String, to columnsCount: Int) -> String {
        text + String(repeating: " ", count: max(0, columnsCount - columns(text)))
    }

    // East Asian characters and emoji take two columns of a terminal.
    private static func columns(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            let isWide = character.unicodeScalars.contains { scalar in
                (0x1100...0x115F).contains(scalar.value) || (0x2E80...0xA4CF).contains(scalar.value)
                    || (0xAC00...0xD7A3).contains(scalar.value) || (0xF900...0xFAFF).contains(scalar.value)
                    || (0xFF00...0xFF60).contains(scalar.value) || (0x1F300...0x1FAFF).contains(scalar.value)
            }
            return sum + (isWide ? 2 : 1)
        }
    }
}

extension String {
    fileprivate var trimmingSpacesAtEnd: String {
        var text = Substring(self)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
