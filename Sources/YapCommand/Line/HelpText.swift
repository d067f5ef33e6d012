/// Output of `--help`.
enum HelpText {
    static let exitCodes =
        "Exit codes: " + ExitCode.allCases.map { "\($0.rawValue) \($0.what)" }.joined(separator: ", ") + "."

    /// Returns the list of all commands, one in a line.
    static func overview(_ groups: [(title: String, commands: [Command])]) -> String {
        let width = groups.flatMap(\.commands).map(\.name.count).max() ?? 0
        let tables = groups.map { group in
            ([group.title + ":"] + group.commands.map { "  \(padded($0.name, width))  \($0.summary)" })
                .joined(separator: "\n")
        }
        return """
            yap: CloudKit's service on your own machine, and tools for its data

            \(tables.joined(separator: "\n\n"))

            yap help prints this, yap help COMMAND what COMMAND --help does, and yap manual | man -l - shows all of it.
            Begin with:
              yap init --container iCloud.com.example.todo
              yap serve

            Every command takes --json and --help. yap --version prints the version.
            \(exitCodes)

            """
    }

    /// Returns the help of one command.
    static func text(of command: Command) -> String {
        var parts = ["yap \(command.name): \(command.summary)", "Usage: \(usage(of: command))"]
        if !command.details.isEmpty { parts.append(command.details) }
        if !command.operands.isEmpty {
            parts.append(table(command.operands.map { ($0.name, $0.help) }))
        }
        let options = command.allOptions.map { option in
            ("--\(option.name)" + (option.value.map { " \($0)" } ?? ""), help(of: option))
        }
        parts.append("Options:\n" + table(options))
        parts.append(wrapped("With --json: \(command.json)"))
        parts.append(
            (command.examples.count == 1 ? "Example:\n" : "Examples:\n")
                + command.examples.map { "  yap \($0)" }.joined(separator: "\n"))
        parts.append(exitCodes)
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Returns the text with line breaks at spaces, so that lines fit.
    private static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.count > columnsMax else { return String(line) }
            var lines = [""]
            for word in line.split(separator: " ") {
                let last = lines[lines.count - 1]
                if last.isEmpty {
                    lines[lines.count - 1] = String(word)
                } else if last.count + 1 + word.count <= columnsMax {
                    lines[lines.count - 1] = last + " " + word
                } else {
                    lines.append("  " + word)
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static let columnsMax = 116

    static func usage(of command: Command) -> String {
        var words = ["yap", command.name]
        words += command.operands.map { $0.repeats ? "\($0.name)..." : $0.name }
        words += command.options.filter(\.isRequired).map { "--\($0.name) \($0.value ?? "")" }
        return (words + ["[options]"]).joined(separator: " ")
    }

    static func help(of option: Command.Option) -> String {
        option.help + (option.isRequired ? "; required" : "")
            + (option.repeats ? "; may be repeated" : "")
    }

    private static func table(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  \(padded($0.0, width))  \($0.1)" }.joined(separator: "\n")
    }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
