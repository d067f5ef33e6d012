import Foundation

/// Swift blocks of pages, and the code in which they must stand line for line.
struct CodeBlocks {
    /// A block, and the page that has it.
    struct Block {
        let place: String
        let lines: [Substring]
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Files by the first line of each place at which a block may begin.
    private let places: [Substring: [(file: Int, line: Int)]]
    private let files: [[Substring]]

    /// Folder of the guide.
    static let guide = root.appending(path: "docs/guide")

    /// Reads the Swift files in some folders of the package.
    init(folders: [String]) throws {
        files = try folders.flatMap { try Self.swiftFiles(in: $0) }.map {
            Self.lines(try String(contentsOf: $0, encoding: .utf8))
        }
        var places: [Substring: [(file: Int, line: Int)]] = [:]
        for (file, lines) in files.enumerated() {
            for (line, text) in lines.enumerated() { places[text, default: []].append((file, line)) }
        }
        self.places = places
    }

    /// Returns true if a block is part of a file: the same lines in the same order, whatever their indentation.
    func contain(_ block: Block) -> Bool {
        guard let first = block.lines.first else { return false }
        return (places[first] ?? []).contains { files[$0.file][$0.line...].starts(with: block.lines) }
    }

    /// Returns the blocks of a page in Markdown.
    static func ofPage(_ path: String) throws -> [Block] {
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let parts = text.components(separatedBy: "```")
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }.filter { $0.hasPrefix("swift\n") }
            .map { Block(place: path, lines: lines(String($0.dropFirst("swift\n".count)))) }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }

    private static func swiftFiles(in folder: String) throws -> [URL] {
        let url = root.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".swift") }
            .sorted().map { url.appending(path: $0) }
    }
}
