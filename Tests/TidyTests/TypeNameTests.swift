import Testing

/// A type name means one thing in the whole package.
@Suite struct TypeNameTests {
    /// Names of top-level types in more than one place, until one of them is renamed.
    static let exceptions: Set<String> = []

    @Test func eachTopLevelTypeNameIsDeclaredOnce() {
        let places = Self.declarations(in: TidyTests.sources)
            .filter { $0.value.count > 1 && !Self.exceptions.contains($0.key) }
            .flatMap(\.value).sorted()
        #expect(places.isEmpty, "\n\(places.joined(separator: "\n"))")
    }

    @Test func everyExceptionIsStillNeeded() {
        let declarations = Self.declarations(in: TidyTests.sources)
        let stale = Self.exceptions.filter { declarations[$0, default: []].count < 2 }.sorted()
        #expect(stale.isEmpty, "\(stale)")
    }

    @Test func privateAndNestedTypesMayShareAName() {
        let first = SourceFile(
            path: "Sources/Room/A.swift",
            text: """
                package indirect enum Row {
                    struct Nested {}
                }
                private struct Hidden {}
                extension Row {}
                """)
        let second = SourceFile(
            path: "Sources/Other/B.swift",
            text: """
                // struct Row {}
                @available(*, deprecated) public final class Row<Value>: Sendable {}
                private struct Hidden {}
                struct Nested {}
                typealias Names = [String]
                """)
        let declarations = Self.declarations(in: [first, second]).mapValues(\.count)
        #expect(declarations == ["Row": 2, "Nested": 1, "Names": 1])
    }

    /// The places where top-level types that aren't private are declared, by name.
    private static func declarations(in files: [SourceFile]) -> [String: [String]] {
        let modifiers =
            /(?:(?:@\w+(?:\([^)]*\))?|public|package|internal|open|final|indirect|nonisolated) +)*/
        let declaration = /(?:struct|class|enum|protocol|actor|typealias) +(\w+)/
        var places = [String: [String]]()
        for file in files {
            for index in file.code.indices where file.code[index].first != " " {
                let line = file.code[index]
                let words = line[(line.prefixMatch(of: modifiers)?.range.upperBound ?? line.startIndex)...]
                guard let match = words.prefixMatch(of: declaration) else { continue }
                places[String(match.output.1), default: []].append(file.place(index))
            }
        }
        return places
    }
}
