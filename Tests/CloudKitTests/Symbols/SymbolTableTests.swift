import CloudKit
import Foundation
import Testing

/// Each public symbol is documented, stands in the page's table, and is met by a test.
@Suite struct SymbolTableTests {
    private static let extracted = Result { try SymbolGraph.extracted() }
    private let graph: SymbolGraph

    init() throws {
        graph = try Self.extracted.get()
    }

    // `Scripts/symbols` writes the page's table anew.
    @Test func thePageHasTheTableOfAllSymbols() throws {
        let table = SymbolTable(graph)
        try #require(table.rows.count > 1_000)
        let page = SymbolGraph.root.appending(path: "docs/CLOUDKIT_ON_LINUX.md")
        var text = try String(contentsOf: page, encoding: .utf8)
        if ProcessInfo.processInfo.environment["YAP_TABLES"] == "write" {
            let start = try #require(text.range(of: SymbolTable.header)).lowerBound
            text.replaceSubrange(start..., with: table.text)
            try text.write(to: page, atomically: true, encoding: .utf8)
        }
        let lines = Set(text.split(separator: "\n").map(String.init))
        let missing = table.rows.map(\.text).filter { !lines.contains($0) }
        #expect(
            missing.isEmpty,
            "Scripts/symbols writes the table anew; it lacks\n\(missing.joined(separator: "\n"))")
        #expect(
            text.hasSuffix(table.text),
            "Scripts/symbols writes the table anew; it has rows of what isn't there")
    }

    @Test func everySymbolIsDocumented() {
        let bare = graph.symbols.filter { SymbolTable.isListed($0) && $0.docComment == nil }.map(\.path)
        #expect(bare.isEmpty, "\(bare.sorted())")
    }

    @Test func whatDoesNothingYetSaysWhy() {
        for symbol in graph.symbols {
            let comment = symbol.docComment?.lines.map(\.text) ?? []
            guard comment.contains(where: { $0.hasPrefix("- Note:") }) else { continue }
            let mark = SymbolTable.mark(symbol)
            #expect(mark != nil, "\(symbol.path): a note is `Inert: why` or `Coming: when`")
            #expect(mark?.why.isEmpty == false && mark?.why.hasSuffix(":") == false, "\(symbol.path)")
        }
    }

    @Test func everyArchivedClassIsAmongThoseThatAreTried() throws {
        let tried = Set(try ArchivedClasses.all().map { String(describing: type(of: $0)) })
        let archived = graph.classes(conformingTo: "Foundation.NSSecureCoding")
        #expect(archived.count > 20 && archived.subtracting(tried) == ["CKSubscription"], "abstract")
        let copied = graph.classes(conformingTo: "Foundation.NSCopying")
        #expect(copied.subtracting(tried) == ["CKOperationConfiguration", "CKSubscription"])
    }

    @Test func everySymbolIsMetByATest() throws {
        let words = try TestWords(graph)
        let alone = graph.symbols.filter { SymbolTable.isListed($0) && !$0.isUnavailable && !words.meet($0) }
        #expect(alone.isEmpty, "\(alone.map(\.path).sorted().joined(separator: "\n"))")
    }
}

/// The words of the tests' files. A symbol is met where its name, its labels and its type's name stand in one file: a
/// floor that no new symbol falls through unseen, and no proof that a test asserts something of it.
private struct TestWords {
    private struct File {
        var words: Set<Substring>
        /// Those that follow a dot.
        var members: Set<Substring>
    }

    private let files: [File]
    private let aliases: [String: Set<String>]
    /// Objects of these are at hand in most tests, which then don't name their class; and what every archived class
    /// has is tried for all of them together.
    private static let everywhere: Set = ["CKDatabase", "CKContainer", "CKRecord"]
    private static let ofArchivedClasses: Set = [
        "init(coder:)", "encode(with:)", "supportsSecureCoding", "copy(with:)", "isEqual(_:)", "hash",
        "description",
    ]
    private let archived: Set<String>

    init(_ graph: SymbolGraph) throws {
        archived = graph.classes(conformingTo: "Foundation.NSSecureCoding")
        aliases = graph.symbols.filter { $0.kind.identifier == "swift.typealias" }
            .reduce(into: [:]) { aliases, symbol in
                let target = symbol.declaration.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.last
                if let target {
                    aliases[String(target), default: []].insert(symbol.pathComponents.last ?? "")
                }
            }
        let folder = SymbolGraph.root.appending(path: "Tests/CloudKitTests")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        files = try names.filter { $0.hasSuffix(".swift") }.map { name in
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            let parts = code.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." } }
            return File(
                words: Set(parts.flatMap { $0.split(separator: ".") }),
                members: Set(parts.flatMap { Self.members($0) }))
        }
    }

    private static func members(_ part: Substring) -> [Substring] {
        let names = part.split(separator: ".")
        return part.hasPrefix(".") ? names : Array(names.dropFirst())
    }

    func meet(_ symbol: SymbolGraph.Symbol) -> Bool {
        let path = symbol.pathComponents
        guard let last = path.last else { return true }
        if path.count == 2, archived.contains(path[0]), Self.ofArchivedClasses.contains(last) { return true }
        let base = String(last.prefix { $0 != "(" })
        // A copy is asked for by `copy()`.
        let labels =
            base == "copy"
            ? []
            : last.dropFirst(base.count).split { "(:)_".contains($0) }
                .filter { $0 != "completionHandler" && $0 != "body" }
        let types = path.dropLast().last.map { aliases[$0, default: []].union([$0]) } ?? []
        return files.contains { file in
            let namesType = types.isEmpty || types.contains { file.words.contains(Substring($0)) }
            guard namesType || !types.isDisjoint(with: Self.everywhere) else { return false }
            return labels.allSatisfy(file.words.contains) && names(base, symbol, in: file)
        }
    }

    private func names(_ base: String, _ symbol: SymbolGraph.Symbol, in file: File) -> Bool {
        if base == "init" || base == "subscript" { return true }
        if symbol.pathComponents.count == 1 || Self.types.contains(symbol.kind.identifier) {
            return aliases[base, default: []].union([base]).contains { file.words.contains(Substring($0)) }
        }
        return file.members.contains(Substring(base))
    }

    private static let types: Set = ["swift.typealias", "swift.class", "swift.struct", "swift.enum"]
}
