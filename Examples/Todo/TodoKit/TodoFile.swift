public import System

/// A whole todo.txt file: its items, and around them what is needed to write the same bytes again.
public struct TodoFile: Sendable, Equatable {
    /// A file that is larger is refused.
    public static let bytesMax = 16 * 1024 * 1024
    /// A longer line is refused.
    public static let lineBytesMax = 64 * 1024

    /// One line: an item, or nothing but white space; and how it ends.
    public struct Line: Sendable, Equatable {
        /// The item, or nil when the line is blank.
        public var todo: Todo?
        /// The white space of a blank line; empty otherwise.
        public var blank: String
        /// `"\n"`, `"\r\n"`, or `""` for a last line that ends with the file.
        public var ending: String
    }

    /// The lines in the order of the file.
    public var lines: [Line]
    /// Whether the file begins with a byte order mark.
    public var hasByteOrderMark: Bool

    /// Reads a file's bytes.
    ///
    /// - Throws: `TodoFileError` when the file or a line is too long, or a line isn't UTF-8; with the line's number.
    public init(bytes: [UInt8]) throws(TodoFileError) {
        guard bytes.count <= Self.bytesMax else { throw .fileTooLarge(bytes: bytes.count) }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        hasByteOrderMark = bytes.starts(with: mark)
        lines = []
        var rest = bytes[(hasByteOrderMark ? mark.count : 0)...]
        while !rest.isEmpty {
            let number = lines.count + 1
            let newline = rest.firstIndex(of: UInt8(ascii: "\n"))
            var content = rest[..<(newline ?? rest.endIndex)]
            var ending = newline == nil ? "" : "\n"
            if newline != nil, content.last == UInt8(ascii: "\r") {
                content = content.dropLast()
                ending = "\r\n"
            }
            guard content.count <= Self.lineBytesMax else {
                throw .lineTooLong(line: number, bytes: content.count)
            }
            guard let text = String(validating: content, as: UTF8.self) else { throw .notUTF8(line: number) }
            let isBlank = content.allSatisfy { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
            lines.append(
                Line(
                    todo: isBlank ? nil : Todo(line: text, order: number), blank: isBlank ? text : "",
                    ending: ending))
            rest = newline.map { rest[($0 + 1)...] } ?? []
        }
    }

    /// The file's bytes: those that it was read from, where no item was changed.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = hasByteOrderMark ? [0xEF, 0xBB, 0xBF] : []
        for line in lines {
            bytes += (line.todo?.line ?? line.blank).utf8
            bytes += line.ending.utf8
        }
        return bytes
    }

    /// The items in the order of the file, blank lines left out.
    public var todos: [Todo] { lines.compactMap(\.todo) }

    /// The items with a key for each, to be stored under it from then on.
    ///
    /// - Parameter random: Where the keys come from: the same source gives the same file the same keys.
    public func keyedTodos(random: any RandomSource) -> [(key: String, todo: Todo)] {
        todos.map { (random.nextUUID(), $0) }
    }
}

/// Why a file can't be read as a list.
public enum TodoFileError: Error, Equatable, CustomStringConvertible {
    /// The file has more than `TodoFile.bytesMax` bytes.
    case fileTooLarge(bytes: Int)
    /// The line, counted from 1, has more than `TodoFile.lineBytesMax` bytes.
    case lineTooLong(line: Int, bytes: Int)
    /// The line, counted from 1, is not UTF-8.
    case notUTF8(line: Int)

    /// What is wrong and what to do, in a sentence.
    public var description: String {
        switch self {
        case .fileTooLarge(let bytes):
            "the file has \(bytes) bytes and a list may have \(TodoFile.bytesMax): split it"
        case .lineTooLong(let line, let bytes):
            "line \(line) has \(bytes) bytes and a line may have \(TodoFile.lineBytesMax): is this a todo.txt file?"
        case .notUTF8(let line):
            "line \(line) is not UTF-8: save the file as UTF-8 and try again"
        }
    }
}
