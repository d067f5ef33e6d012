import Foundation

/// The stacks of all threads of a process, from a debugger.
enum Stacks {
    static let seconds = 120.0

    static func of(_ process: pid_t, _ files: RunFiles) -> [String] {
        let debuggers = [
            ["lldb", "-p", "\(process)", "--batch", "-o", "thread backtrace all"],
            ["gdb", "-p", "\(process)", "-batch", "-ex", "thread apply all backtrace"],
        ]
        for words in debuggers {
            let output = files.temporary("stacks.\(process).\(words[0])")
            guard let debugger = try? ChildProcess(words, output: output) else { continue }
            if !debugger.waitForEnd(seconds: seconds) { ProcessTable.end([debugger.id], patience: 0) }
            let text = demangled(output)
            files.log(text, under: words.joined(separator: " "))
            let lines = text.split(whereSeparator: \.isNewline).map(String.init)
            let start = lines.firstIndex { $0.contains("hread #") || $0.hasPrefix("Thread ") }
            if let start, text.contains("#0") { return Array(lines[start...]) }
        }
        return ["no stacks: neither lldb nor gdb could read them"]
    }

    /// The text of a file with readable names; gdb has the compiler's.
    private static func demangled(_ path: String) -> String {
        let readable = path + ".readable"
        let words = ["swift", "demangle", "--simplified"]
        let isDone = (try? ChildProcess(words, input: path, output: readable))?.waitForEnd(seconds: 20)
        let text = isDone == true ? RunFiles.text(of: readable) : ""
        return text.isEmpty ? RunFiles.text(of: path) : text
    }
}
