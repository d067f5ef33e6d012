import Testing

@testable import YapCommand

/// What users have stored is shown on the operator's terminal.
@Suite struct TerminalTests {
    @Test func storedTextCannotSteerTheTerminal() {
        // ESC, DEL, the CSI of one byte, a line separator, and what turns the direction of text.
        for scalar in ["\u{1B}", "\u{7F}", "\u{9B}", "\u{2028}", "\u{202E}", "\u{2066}"] as [Unicode.Scalar] {
            let text = JSON.string("a\(scalar)b").text
            #expect(!text.unicodeScalars.contains(scalar), "\(scalar.value)")
            #expect(text.utf8.count == 10 && text.hasPrefix("\"a\\u"))
        }
        // Of letters and emoji nothing is escaped, nor what joins them.
        let plain = "Käse 👨\u{200D}👩\u{200D}👧"
        #expect(JSON.string(plain).text == "\"\(plain)\"")
    }
}
