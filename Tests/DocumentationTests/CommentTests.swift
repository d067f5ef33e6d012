import CodeBlocks
import Testing

/// The documentation comments show code that compiles: each Swift block of a public room stands in a file of this
/// folder line for line, and these files see public symbols only.
@Suite struct CommentTests {
    @Test func everyBlockOfADocumentationCommentIsCodeThatCompiles() throws {
        let code = try CodeBlocks(folders: ["Tests/DocumentationTests"])
        let rooms = try Self.publicRooms
        #expect(rooms.contains("Yap") && rooms.contains("HTTPServer"))
        let blocks = try rooms.flatMap { try CodeBlocks.ofComments(in: "Sources/\($0)") }
        #expect(blocks.count >= 130)
        for block in blocks where !code.contain(block) {
            let text = block.lines.joined(separator: "\n")
            Issue.record("\(block.place): this block isn't in Tests/DocumentationTests\n\(text)")
        }
    }

    @Test func swiftBlocksOfCommentsAreFoundWithTheirPlaces() {
        let blocks = CodeBlocks.ofComments(
            """
            /// A summary.
            ///
            /// ```swift
            /// one {
            ///     two
            ///
            /// }
            /// ```
            struct A {
                /// - Parameter a: A text
                ///     with a second line.
                /// ```
                /// three
                /// ```
                /// ```sql
                /// SELECT 1
                /// ```
                ///
                ///     four
                ///
                ///     five
                /// Text.
                // ```
                // six
                var a = 0
            }
            ///     seven
            func b() {}
            /// ```
            /// eight
            """, path: "A.swift")
        #expect(blocks.map(\.place) == ["A.swift:3", "A.swift:12", "A.swift:19", "A.swift:27", "A.swift:29"])
        let lines = [["one {", "two", "}"], ["three"], ["four", "five"], ["seven"], ["eight"]]
        #expect(blocks.map { $0.lines.map(String.init) } == lines)
    }

    /// The rooms that are products of the package.
    private static var publicRooms: [String] {
        get throws {
            try CodeBlocks.text(of: "Package.swift").matches(of: /\.library\(name: "(\w+)"/)
                .map { String($0.output.1) }
        }
    }
}
