public import Foundation

/// Swift blocks of pages and of documentation comments, and the code in which they must stand line for line.
public struct CodeBlocks {
    /// A block, and where it is.
    public struct Block {
        /// The page, or the file and the line of the comment.
        public let place: String
        /// The lines without indentation. Empty lines are left out.
        public let lines: [Substring]

        /// Creates a block.
        ///
        /// - Parameters:
        ///   - place: The page, or the file and the line of the comment.
        ///   - text: The text of the block.
        public init(place: String, text: String) {
            self.place = place
            lines = CodeBlocks.lines(text)
        }
    }

    /// Folder of the package.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    /// Folder of the guide.
    public static let guide = root.appending(path: "docs/guide")

    /// Files by the first line of each place at which a block may begin.
    private let places: [Substring: [(file: Int, line: Int)]]
    private let files: [[Substring]]

    /// Reads the Swift files in some folders of the package.
    public init(folders: [String]) throws {
        files = try folders.flatMap { try Self.swiftFiles(in: $0) }.map { Self.lines(try Self.text(of: $0)) }
        var places: [Substring: [(file: Int, line: Int)]] = [:]
        for (file, lines) in files.enumerated() {
            for (line, text) in lines.enumerated() { places[text, default: []].append((file, line)) }
        }
        self.places = places
    }

    /// Returns true if a block is part of a file: the same lines in the same order, whatever their indentation.
    public func contain(_ block: Block) -> Bool {
        guard let first = block.lines.first else { return false }
        return (places[first] ?? []).contains { files[$0.file][$0.line...].starts(with: block.lines) }
    }

    /// Returns the blocks of a page in Markdown.
    public static func ofPage(_ path: String) throws -> [Block] {
        let parts = try text(of: path).components(separatedBy: "```")
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }.filter { $0.hasPrefix("swift\n") }
            .map { Block(place: path, text: String($0.dropFirst("swift\n".count))) }
    }

    /// Returns the paths of the Swift files in a folder of the package, sorted.
    static func swiftFiles(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }

    /// Returns the text of a file of the package.
    public static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }
}
