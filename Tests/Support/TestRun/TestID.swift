/// The name of a test function, as Swift Testing writes it: `YapTests.RowTests/Nested/aRow(_:)/RowTests.swift:17:10`.
package struct TestID: Hashable, Sendable, CustomStringConvertible {
    /// The whole text, with the place in the source.
    package let text: String
    /// The text without the place, as `swift test list` prints it.
    package let name: String
    /// The room and the suites, separated by dots. Only the room for a function outside a suite.
    package let suite: String
    package let function: String
    /// The outermost suite with its room, or the function if it has no suite.
    package let unit: String

    /// Returns nil if `text` doesn't name a function, but a suite.
    package init?(_ text: String) {
        guard let place = text.firstMatch(of: /\/[^\/]+:\d+:\d+$/) else { return nil }
        let name = text[..<place.range.lowerBound]
        var parts = name.split(separator: "/").map(String.init)
        guard let first = parts.first, let dot = first.firstIndex(of: ".") else { return nil }
        if parts.count == 1 { parts = [String(first[..<dot]), String(first[first.index(after: dot)...])] }
        self.text = text
        self.name = String(name)
        unit = first
        function = parts.removeLast()
        suite = parts.joined(separator: ".")
    }

    package var description: String { "\(suite) \(function)" }
}
