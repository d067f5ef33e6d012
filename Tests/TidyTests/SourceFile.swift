import Foundation

/// A Swift file, as lines, and as lines of which only the code is left.
struct SourceFile {
    let path: String
    let lines: [String]
    /// The same lines with comments and the contents of string literals taken out.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var isInLongString = false
        code = lines.map { Self.code(of: $0, isInLongString: &isInLongString) }
    }

    /// A place where a rule is broken, to be printed.
    func place(_ index: Int) -> String {
        "\(path):\(index + 1): \(lines[index].drop { $0 == " " })"
    }

    /// The places whose code contains `pattern`.
    func places(of pattern: Regex<Substring>) -> [String] {
        code.indices.filter { code[$0].contains(pattern) }.map(place)
    }

    /// The functions (and initialisers) that have more lines than `linesMax`, from the first line to the last brace.
    ///
    /// Files are formatted: a function ends at the first brace that stands as deep as its first line.
    func functionsLonger(than linesMax: Int) -> [String] {
        code.indices.filter { start in
            guard ["func", "init", "subscript"].contains(where: { code[start].range(of: $0) != nil }),
                code[start].contains(/\b(func\b|init[?(<]|deinit\b|subscript\b)/),
                !code[start].contains("= init"), !code[start].contains(".init(")
            else { return false }
            let depth = code[start].prefix { $0 == " " }.count
            let end = code[start...].firstIndex { line in
                line.prefix { $0 == " " }.count == depth
                    && (line.hasSuffix("}") || line.dropFirst(depth).first == "}")
            }
            return (end ?? start) - start >= linesMax
        }.map(place)
    }

    private static func code(of line: String, isInLongString: inout Bool) -> String {
        // Most lines have neither a string nor a comment.
        guard line.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "/") }) else {
            return isInLongString ? "" : line
        }
        var code = ""
        var isInString = false
        var rest = Substring(line)
        while let first = rest.first {
            if rest.hasPrefix("\"\"\"") {
                isInLongString.toggle()
                rest = rest.dropFirst(3)
            } else if isInLongString {
                rest = rest.dropFirst()
            } else if isInString {
                if first == "\"" { isInString = false }
                rest = rest.dropFirst(first == "\\" ? 2 : 1)
            } else if rest.hasPrefix("//") {
                break
            } else {
                if first == "\"" { isInString = true }
                code.append(first == "\"" ? " " : first)
                rest = rest.dropFirst()
            }
        }
        return code
    }
}
