/// The completion script for fish, 3.1 or later.
enum FishCompletion {
    static func script(_ names: CommandNames) -> String {
        let first = names.first.map { name in
            "complete -c yap -n __yap_is -a \(name.name) -d \(quoted(name.summary))"
        }
        let second = names.families.flatMap { family in
            family.second.map { name in
                "complete -c yap -n '__yap_is \(family.name)' -a \(name.name) -d \(quoted(name.summary))"
            }
        }
        return """
            # Completes yap's commands in fish. Printed by: yap completions fish

            # The words before the cursor, without yap, help and options.
            function __yap_words
                set -l words (commandline -opc)
                set -e words[1]
                if test "$words[1]" = help
                    set -e words[1]
                end
                string match -v -- '-*' $words
            end

            # Whether these are all words before the cursor.
            function __yap_is
                set -l words (__yap_words)
                test "$words" = "$argv"
            end

            # Whether the words before the cursor begin with these, and no help is asked for.
            function __yap_begins
                set -l all (commandline -opc)
                test "$all[2]" = help; and return 1
                set -l words (__yap_words)
                test "$words[1..$(count $argv)]" = "$argv"
            end

            complete -c yap -f
            complete -c yap -n 'test (count (commandline -opc)) -eq 1' -a help -d 'print the help of a command'
            complete -c yap -n 'test (count (commandline -opc)) -eq 1' -l help -d 'print all commands'
            complete -c yap -n 'test (count (commandline -opc)) -eq 1' -l version -d 'print the version'
            \((first + second + names.commands.flatMap(entries)).joined(separator: "\n"))

            """
    }

    private static func entries(_ command: Command) -> [String] {
        let start = "complete -c yap -n '__yap_begins \(command.name)'"
        let options = command.allOptions.map { option in
            "\(start) -l \(option.name)\(option.completion.map(action) ?? "") -d \(quoted(option.help))"
        }
        let operand = command.operands.map(\.completion).first { $0 != .text }
        return options + (operand.map { ["\(start)\(operandAction($0))"] } ?? [])
    }

    private static func action(_ value: CompletionValue) -> String {
        value == .file ? " -r -F" : " -x" + operandAction(value)
    }

    private static func operandAction(_ value: CompletionValue) -> String {
        switch value {
        case .file: " -F"
        case .folder: " -a '(__fish_complete_directories)'"
        case .oneOf(let values): " -a '\(values.joined(separator: " "))'"
        case .text: ""
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
