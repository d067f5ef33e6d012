/// The completion script for zsh: a file of `$fpath`, or text to source.
enum ZshCompletion {
    static func script(_ names: CommandNames) -> String {
        """
        #compdef yap
        # Completes yap's commands in zsh. Printed by: yap completions zsh

        _yap() {
            local name
            local -a names
            local asks_for_help=0
            if [[ $words[2] == help ]] && ((CURRENT > 2)); then
                shift words
                ((CURRENT--))
                asks_for_help=1
            fi
            if ((CURRENT == 2)); then
                names=(
        \(described(names.first))
                )
                ((asks_for_help)) || names+=('help:print the help of a command')
                _describe -t commands command names
                ((asks_for_help)) || _arguments '--help[print all commands]' '--version[print the version]'
                return
            fi
            name=$words[2]
            names=()
            case $name in
        \(names.families.map(family).joined(separator: "\n"))
            esac
            if (($#names)); then
                if ((CURRENT == 3)); then
                    _describe -t commands command names
                    return
                fi
                name+=" $words[3]"
                shift words
                ((CURRENT--))
            fi
            ((asks_for_help)) && return 1
            shift words
            ((CURRENT--))
            case $name in
        \(names.commands.map(entry).joined(separator: "\n"))
            *) return 1 ;;
            esac
        }

        if [[ $funcstack[1] == _yap ]]; then
            _yap "$@"
        else
            compdef _yap yap
        fi

        """
    }

    private static func family(_ family: (name: String, second: [(name: String, summary: String)])) -> String
    {
        "    \(family.name))\n        names=(\n\(described(family.second))\n        )\n        ;;"
    }

    private static func described(_ names: [(name: String, summary: String)]) -> String {
        names.map { "            " + quoted("\($0.name):\($0.summary)") }.joined(separator: "\n")
    }

    private static func entry(_ command: Command) -> String {
        let options = command.allOptions.map { option in
            (option.repeats ? "*" : "") + "--\(option.name)" + (option.value == nil ? "" : "=")
                + "[\(escaped(option.help, "[]"))]"
                + (option.completion.map { ":\(escaped(option.value ?? "", ":")):\(action($0))" } ?? "")
        }
        let operands = command.operands.enumerated().map { index, operand in
            (operand.repeats ? "*" : "\(index + 1)") + ":\(escaped(operand.name, ":")):"
                + action(operand.completion)
        }
        return "    \(quoted(command.name)))\n        _arguments -S \\\n"
            + (options + operands).map { "            " + quoted($0) }.joined(separator: " \\\n")
            + "\n        ;;"
    }

    private static func action(_ value: CompletionValue) -> String {
        switch value {
        case .file: "_files"
        case .folder: "_files -/"
        case .oneOf(let values): "(\(values.joined(separator: " ")))"
        case .text: " "
        }
    }

    private static func escaped(_ text: String, _ characters: String) -> String {
        String(text.flatMap { characters.contains($0) || $0 == "\\" ? ["\\", $0] : [$0] })
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
