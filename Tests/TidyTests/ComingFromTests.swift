import Foundation
import Testing

/// The pages for users of YapDatabase: every symbol of the originals is in a table, and every name that a table gives
/// for one exists in the sources.
@Suite struct ComingFromTests {
    struct Page: Sendable, CustomTestStringConvertible {
        let path: String
        let symbols: [String]

        var testDescription: String { path }
    }

    /// A row of a table: symbols of the original, and the name here, or nil if the row says that there is none.
    private struct Row {
        let there: [String]
        let here: String?

        init(_ line: Substring) {
            let cells = line.split(separator: "|")
            there = cells[0].split { " `,".contains($0) }.map(String.init)
            let name = cells[1].drop { $0 == " " }
            here = name.first == "`" ? String(name.dropFirst().prefix { $0 != "`" }) : nil
        }

        static func all(_ text: String) -> [Row] {
            text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(Row.init)
        }
    }

    static let pages = [
        Page(path: "docs/COMING_FROM_YAPDATABASE.md", symbols: OriginalSymbols.yapDatabase),
        Page(path: "docs/COMING_FROM_YAPDATABASECLOUDKIT.md", symbols: OriginalSymbols.yapDatabaseCloudKit),
    ]

    private static let declarations = Declarations(Repository.swiftFiles(in: ["Sources"]))

    @Test(arguments: pages) func everySymbolOfTheOriginalsPagesHasItsName(_ page: Page) throws {
        let text = try #require(Repository.text(of: page.path))
        let named = Set(Row.all(text).flatMap(\.there))
        let missing = page.symbols.filter { !named.contains($0) }
        #expect(missing.isEmpty, "\(missing)")
        #expect(page.symbols.count > 90)
    }

    @Test(arguments: pages) func everyNameThatIsGivenExists(_ page: Page) throws {
        let text = try #require(Repository.text(of: page.path))
        let names = Row.all(text).compactMap(\.here)
        let unknown = names.filter { !Self.declarations.contains($0) }
        #expect(unknown.isEmpty, "\n\(unknown.joined(separator: "\n"))")
        #expect(names.count > 90)
    }

    @Test func aRowMayHaveSeveralSymbolsAndNoName() {
        let rows = Row.all(
            """
            | there | here | what is different |
            |---|---|---|
            | `a`, `b:c:` | `X.y(_:)` | with `z` |
            | `d` | - | use `e` |
            """)
        #expect(rows.map(\.there) == [["a", "b:c:"], ["d"]])
        #expect(rows.map(\.here) == ["X.y(_:)", nil])
    }

    @Test func aNameThatDoesNotExistIsSeen() {
        let text = """
            public final class Thing {
                public func make(_ a: [String: Int] = [:], for b: @escaping (Int, Int) -> Void) {}
                public var count: Int { 0 }
                func hidden() {}
            }
            """
        let declarations = Declarations([SourceFile(path: "x.swift", text: text)])
        for name in ["Thing", "Thing.make(_:for:)", "Thing.count"] { #expect(declarations.contains(name)) }
        for name in [
            "Other", "Other.count", "Thing.make(_:)", "Thing.make(for:_:)", "Thing.size", "Thing.hidden()",
        ] {
            #expect(!declarations.contains(name), "\(name)")
        }
    }
}

/// The public names of sources, as far as their text shows them.
private struct Declarations {
    private var types: Set<String> = []
    private var members: Set<String> = []
    private var functions: Set<String> = []

    /// Without regular expressions: in a debug build they take half a minute for this.
    init(_ files: [SourceFile]) {
        for file in files {
            for (index, line) in file.code.enumerated() {
                let words = Self.words(line)
                guard words.count > 1 else { continue }
                for (word, next) in zip(words, words.dropFirst()) where Self.typeWords.contains(word) {
                    types.insert(next)
                }
                let isCase = words[0] == "case" || (words[0] == "indirect" && words[1] == "case")
                if isCase, line.last != ":" { members.formUnion(words.dropFirst()) }
                guard words.contains("public") || words.contains("open") else { continue }
                for (word, next) in zip(words, words.dropFirst()) where word == "var" || word == "let" {
                    members.insert(next)
                }
                let function = words.firstIndex(of: "func").map { words[$0 + 1] }
                guard let name = function ?? words.first(where: { $0 == "init" }) else { continue }
                // A head with its parameters takes some lines at most.
                let rest = file.code[index...].prefix(12).joined(separator: "\n")
                functions.insert("\(name)(\(Self.labels(rest, after: name).map { $0 + ":" }.joined()))")
            }
        }
    }

    private static let typeWords: Set = ["class", "struct", "enum", "protocol", "typealias"]

    private static func words(_ line: String) -> [String] {
        line.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                false
            default: true
            }
        }.map { String(Substring($0)) }
    }

    /// Whether `Type.member`, `Type.function(labels:)` or a type is there.
    func contains(_ name: String) -> Bool {
        let path = name.prefix { $0 != "(" }.split(separator: ".").map(String.init)
        guard let last = path.last, path.dropLast().allSatisfy(types.contains) else { return false }
        if let labels = name.firstIndex(of: "(") { return functions.contains(last + name[labels...]) }
        return types.contains(last) || members.contains(last)
    }

    /// The labels of a function's parameters, from the text that its declaration begins: what stands in the first
    /// parentheses after the name and its generic parameters.
    private static func labels(_ text: String, after name: String) -> [String] {
        guard let start = text.range(of: name)?.upperBound else { return [] }
        var labels: [String] = []
        var parameter = ""
        var generics = 0
        var depth = 0
        var last: Character = " "
        for character in text[start...] {
            defer { last = character }
            switch character {
            case "<": generics += 1
            case ">" where last != "-": generics -= 1
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            if depth == 0, generics == 0, character == ")" {
                labels += label(parameter)
                return labels
            } else if depth == 1, generics == 0, character == "," {
                labels += label(parameter)
                parameter = ""
            } else if depth > 0 {
                parameter.append(character)
            }
        }
        return labels
    }

    private static func label(_ parameter: String) -> [String] {
        words(parameter).first.map { [$0] } ?? []
    }
}
