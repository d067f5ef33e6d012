extension CodeBlocks {
    /// Returns the Swift blocks in the documentation comments (`///`) of a folder's Swift files.
    ///
    /// A block is fenced, without a language or with `swift`, or it is indented by four spaces after an empty line.
    /// A fence with another language isn't a Swift block.
    ///
    /// - Parameter folder: Path of the folder in the package.
    public static func ofComments(in folder: String) throws -> [Block] {
        try swiftFiles(in: folder).flatMap { ofComments(try text(of: $0), path: $0) }
    }

    /// Returns the Swift blocks in the documentation comments of a text.
    ///
    /// - Parameters:
    ///   - text: Swift code.
    ///   - path: Path of its file, for the place of each block.
    public static func ofComments(_ text: String, path: String) -> [Block] {
        var reader = CommentReader(path: path)
        let (space, slash) = (UInt8(ascii: " "), UInt8(ascii: "/"))
        // Most lines are code, which is skipped as bytes.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let code = line.drop { $0 == space }
            guard code.starts(with: [slash, slash, slash]) else {
                reader.endComment()
                continue
            }
            let content = Substring(code.dropFirst(3))
            reader.read(content.first == " " ? content.dropFirst() : content, number: index + 1)
        }
        reader.endComment()
        return reader.blocks
    }
}

/// Reads comments line by line, and collects the Swift blocks in them.
private struct CommentReader {
    private enum State {
        /// Text. True if a line with an indentation would begin a block.
        case prose(mayIndent: Bool)
        /// Between two fences.
        case fenced(line: Int, isSwift: Bool)
        case indented(line: Int)
    }

    let path: String
    private(set) var blocks: [CodeBlocks.Block] = []
    private var state = State.prose(mayIndent: true)
    private var lines: [Substring] = []

    init(path: String) { self.path = path }

    mutating func read(_ line: Substring, number: Int) {
        let text = line.drop { $0 == " " }
        let fence = text.hasPrefix("```") ? text.dropFirst(3) : nil
        let isIndented = line.hasPrefix("    ") && !text.isEmpty
        switch state {
        case .fenced where fence == nil: lines.append(line)
        case .fenced(let start, let isSwift): end(isSwift ? start : nil)
        case .indented where isIndented || text.isEmpty: lines.append(line)
        case .prose(mayIndent: true) where isIndented:
            lines = [line]
            state = .indented(line: number)
        case .prose, .indented:
            if case .indented(let start) = state { end(start) }
            state =
                fence.map { .fenced(line: number, isSwift: ["", "swift"].contains($0)) }
                ?? .prose(mayIndent: text.isEmpty)
        }
    }

    /// Ends the comment, and a block that is still open.
    mutating func endComment() {
        switch state {
        case .prose: break
        case .indented(let line), .fenced(let line, isSwift: true): end(line)
        case .fenced: end(nil)
        }
        state = .prose(mayIndent: true)
    }

    /// - Parameter start: Line at which the block begins. Nil if it isn't Swift.
    private mutating func end(_ start: Int?) {
        if let start {
            let text = lines.joined(separator: "\n")
            blocks.append(CodeBlocks.Block(place: "\(path):\(start)", text: text))
        }
        lines = []
        state = .prose(mayIndent: false)
    }
}
