import Foundation

/// The program's own sources, taken apart far enough to say what a test's code leads to.
///
/// A function leads to the functions that it names, in types that it names or leads to. So more may be reached by name
/// than is called, and nothing less.
struct SourceReader {
    private struct Part {
        /// The function's name; nil for what a type has beside its functions.
        var function: String?
        var type: String?
        var words: Set<String> = []
    }

    private var parts: [Part] = []

    init(folder: URL) throws {
        for name in ["App", "Tests"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: folder.appendingPathComponent(name), includingPropertiesForKeys: nil)
            // The table and this file name everything.
            for file in files
            where !["GuideTable.swift", "SourceReader.swift"].contains(file.lastPathComponent) {
                read(try String(contentsOf: file, encoding: .utf8))
            }
        }
    }

    /// The words of the code that the test `name` leads to.
    func words(from name: String) -> Set<String> {
        var reached: Set<String> = []
        var taken: Set<Int> = []
        for (index, part) in parts.enumerated() where part.function == name {
            taken.insert(index)
            reached.formUnion(part.words)
            if let type = part.type { reached.insert(type) }
        }
        while true {
            let next = parts.indices.filter { index in
                let part = parts[index]
                return !taken.contains(index) && (part.type != nil || part.function != nil)
                    && part.type.map(reached.contains) != false
                    && (part.function.map(reached.contains) ?? true)
            }
            guard !next.isEmpty else { return reached }
            for index in next { reached.formUnion(parts[index].words) }
            taken.formUnion(next)
        }
    }

    /// Cuts a formatted file: a declaration ends at the first brace that stands as deep as it.
    private mutating func read(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.code($0) }
        var types: [(name: String, depth: Int, isProtocol: Bool)] = []
        var index = 0
        while index < lines.count {
            defer { index += 1 }
            let line = lines[index]
            let depth = line.prefix { $0 == " " }.count
            let words = Self.words(line)
            if line.dropFirst(depth).first == "}" { types.removeAll { $0.depth >= depth } }
            if let name = Self.name(words, after: ["struct", "class", "enum", "protocol", "extension"]) {
                types.append((name, depth, words.contains("protocol")))
                parts.append(Part(type: name, words: Set(words)))
                continue
            }
            guard let function = Self.function(words, line) else {
                parts.append(Part(type: types.last?.name, words: Set(words)))
                continue
            }
            var body = Set(words)
            if !(line.last == "}" && line.contains("{")), types.last?.isProtocol != true {
                repeat {
                    index += 1
                    body.formUnion(Self.words(lines[index]))
                } while !(lines[index].prefix { $0 == " " }.count == depth
                    && lines[index].dropFirst(depth).first == "}") && index + 1 < lines.count
            }
            let isInit = function == "init"
            parts.append(Part(function: isInit ? nil : function, type: types.last?.name, words: body))
        }
    }

    private static func function(_ words: [String], _ line: String) -> String? {
        if let place = words.firstIndex(of: "func"), place + 1 < words.count { return words[place + 1] }
        if words.first == "init" || words.dropFirst().first == "init" { return "init" }
        // A computed property is a function too.
        return line.last == "{" || line.last == "}" ? name(words, after: ["var"]) : nil
    }

    private static func name(_ words: [String], after keywords: Set<String>) -> String? {
        guard let place = words.firstIndex(where: keywords.contains), place + 1 < words.count,
            words[..<place].allSatisfy(modifiers.contains)
        else { return nil }
        return words[place + 1]
    }

    private static let modifiers: Set = [
        "final", "private", "fileprivate", "static", "override", "Suite", "weak", "lazy", "mutating",
    ]

    /// The line without its comment and what stands in quotes.
    private static func code(_ line: Substring) -> String {
        var (code, isQuoted) = ("", false)
        var rest = line
        while let first = rest.first {
            if !isQuoted, rest.hasPrefix("//") { break }
            if first == "\"" { isQuoted.toggle() } else if !isQuoted { code.append(first) }
            rest = rest.dropFirst(isQuoted && first == "\\" ? 2 : 1)
        }
        while code.last == " " { code.removeLast() }
        return code
    }

    static func words(_ text: some StringProtocol) -> [String] {
        text.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) })
            .map { String($0) }
    }
}
