/// The completion script for bash, 4.4 or later.
enum BashCompletion {
    static func script(_ names: CommandNames) -> String {
        """
        # Completes yap's commands in bash. Printed by: yap completions bash

        _yap() {
            local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} at=1 choice
            local command words= options= values= files= folders= choices=
            COMPREPLY=()
            # bash splits --name=value at the sign.
            if [[ $word == = ]]; then
                word=
            elif [[ $before == = ]]; then
                before=${COMP_WORDS[COMP_CWORD - 2]}
            fi
            ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == help ]] && at=2
            if ((COMP_CWORD <= at)); then
                words="\(names.first.map(\.name).joined(separator: " "))"
                ((at == 1)) && words+=" help --help --version"
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
                return
            fi
            command=${COMP_WORDS[at]}
            case $command in
        \(names.families.map(family).joined(separator: "\n"))
            esac
            if [[ $words ]]; then
                if ((COMP_CWORD == at + 1)); then
                    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
                    return
                fi
                command+=" ${COMP_WORDS[at + 1]}"
            fi
            ((at == 1)) || return
            case $command in
        \(names.commands.map(entry).joined(separator: "\n"))
            *) return ;;
            esac
            # An operand is looked for under the name OPERAND.
            if [[ " $values " != *" $before "* ]]; then
                before=OPERAND
                if [[ $word == -* || " $values " != *" OPERAND "* ]]; then
                    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
                    return
                fi
            fi
            if [[ " $files " == *" $before "* ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            elif [[ " $folders " == *" $before "* ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
            fi
            for choice in $choices; do
                [[ $choice == "$before=$word"* ]] && COMPREPLY+=("${choice#*=}")
            done
            return 0
        }
        complete -F _yap yap

        """
    }

    private static func family(_ family: (name: String, second: [(name: String, summary: String)])) -> String
    {
        line(1, "\(family.name)) words=\"\(family.second.map(\.name).joined(separator: " "))\" ;;")
    }

    /// Returns a command's arguments as variables of the script.
    private static func entry(_ command: Command) -> String {
        var options = command.allOptions.map { (name: "--\($0.name)", value: $0.completion) }
        let all = options.map(\.name)
        if let operand = command.operands.first(where: { $0.completion != .text }) {
            options.append(("OPERAND", operand.completion))
        }
        func names(_ matches: (CompletionValue) -> Bool) -> [String] {
            options.filter { $0.value.map(matches) ?? false }.map(\.name)
        }
        let choices = options.flatMap { option -> [String] in
            guard case .oneOf(let values) = option.value else { return [] }
            return values.map { "\(option.name)=\($0)" }
        }
        let variables = [
            ("options", all), ("values", names { _ in true }), ("files", names { $0 == .file }),
            ("folders", names { $0 == .folder }), ("choices", choices),
        ].filter { !$0.1.isEmpty }
        let lines = variables.map { line(2, "\($0.0)=\"\($0.1.joined(separator: " "))\"") }
        return ([line(1, "\"\(command.name)\")")] + lines + [line(2, ";;")]).joined(separator: "\n")
    }

    private static func line(_ depth: Int, _ text: String) -> String {
        String(repeating: "    ", count: depth) + text
    }
}
