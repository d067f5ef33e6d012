import Foundation

/// A function below `Tests`: a test, or a helper of tests.
///
/// Files are formatted: a function ends at the first brace that stands as deep as its first line.
struct TestFunction {
    let name: String
    /// The file, and the folder of `Tests` that it lies in.
    let path: String
    let room: Substring
    let place: String
    let isTest: Bool
    /// Whether its own code has an assertion.
    let asserts: Bool
    /// Names that its code calls.
    let calls: Set<String>

    static func functions(in file: SourceFile) -> [TestFunction] {
        var functions = [TestFunction]()
        var testDepth: Int?
        for index in file.code.indices {
            let line = file.code[index]
            let depth = indentation(line)
            if line.dropFirst(depth).hasPrefix("@Test") { testDepth = depth }
            guard let name = declaredName(line) else { continue }
            let isTest = testDepth == depth
            if isTest { testDepth = nil }
            guard let end = end(of: index, depth, file.code) else { continue }
            // The declaration's own name is no call.
            let first = line.range(of: "func \(name)").map { String(line[$0.upperBound...]) } ?? line
            let body = [first] + file.code[(index + 1)..<(end + 1)]
            functions.append(
                TestFunction(
                    name: name, path: file.path, room: file.path.split(separator: "/")[1],
                    place: file.place(index), isTest: isTest, asserts: body.contains(where: hasAssertion),
                    calls: body.reduce(into: []) { $0.formUnion(calledNames($1)) }))
        }
        return functions
    }

    private static func indentation(_ line: String) -> Int {
        line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
    }

    private static func hasAssertion(_ line: String) -> Bool {
        guard line.utf8.contains(UInt8(ascii: "#")) || line.utf8.contains(UInt8(ascii: "i")) else {
            return false
        }
        return ["#expect", "#require", "Issue.record", "confirmation("].contains { line.contains($0) }
    }

    /// The name of the function that a line declares.
    private static func declaredName(_ line: String) -> String? {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "func"), index + 1 < words.count else { return nil }
        return String(words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    /// The line of the last brace, or nil if the function has no body.
    private static func end(of start: Int, _ depth: Int, _ code: [String]) -> Int? {
        if code[start].hasSuffix("}"), code[start].utf8.contains(UInt8(ascii: "{")) { return start }
        for index in code.indices.dropFirst(start + 1) where !code[index].isEmpty {
            let line = code[index]
            let found = indentation(line)
            if found < depth { return nil }
            if found == depth, line.dropFirst(depth).hasPrefix("}") { return index }
        }
        return nil
    }

    /// Words before a parenthesis or a brace.
    private static func calledNames(_ line: String) -> Set<String> {
        var names: Set<String> = []
        var word: [UInt8] = []
        var isEnded = false
        for byte in line.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                if isEnded { word = [] }
                isEnded = false
                word.append(byte)
            case UInt8(ascii: " "): isEnded = true
            default:
                let opens = (byte == UInt8(ascii: "(") && !isEnded) || byte == UInt8(ascii: "{")
                if opens, !word.isEmpty { names.insert(String(decoding: word, as: UTF8.self)) }
                word = []
                isEnded = false
            }
        }
        return names
    }
}
