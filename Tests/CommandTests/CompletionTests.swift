import SQLiteTestSupport
import Testing

@testable import YapCommand

/// The completions of shells and the manual page, which are made from the table of commands. `Scripts/check-dist` runs
/// those of zsh and fish in these shells, and checks the page with mandoc.
@Suite struct CompletionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Has bash complete each line at its end; the words of a line are separated by spaces.
    private func completed(_ lines: [String]) async throws -> [[String]] {
        let script = """
            yap completions bash > yap.bash && bash -n yap.bash && . ./yap.bash
            complete -p yap > registered
            mkdir -p folder && touch file
            for line in "$@"; do
                # As bash does, which splits words at the sign =.
                split=${line//=/ = }
                read -ra COMP_WORDS <<< "$split"
                [[ $split == *' ' ]] && COMP_WORDS+=('')
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _yap yap
                echo "${COMPREPLY[*]}"
            done
            """
        let ended = try await YapProcess.shell(script, lines, in: folder)
        #expect(ended.code == 0 && ended.errors.isEmpty, "\(ended.errors)")
        return ended.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { $0.split(separator: " ").map(String.init) }
    }

    @Test func bashCompletesEveryCommandWithItsOptions() async throws {
        let lines = YapProgram.commands.map { "yap \($0.name) --" }
        let found = try await completed(lines)
        try #require(found.count == lines.count)
        for (command, options) in zip(YapProgram.commands, found) {
            #expect(options == command.allOptions.map { "--\($0.name)" }, "\(command.name)")
        }
    }

    @Test func bashCompletesWordsAndValues() async throws {
        let examples: [(line: String, completed: [String])] = [
            ("yap tok", ["token"]),
            ("yap he", ["help"]),
            ("yap --v", ["--version"]),
            ("yap token ", ["create", "list", "set", "revoke"]),
            ("yap help token c", ["create"]),
            ("yap help he", []),
            ("yap nothing ", []),
            ("yap admin add maria --role ", ["look", "change", "administer"]),
            ("yap admin add maria --role=lo", ["look"]),
            ("yap serve --dashboard=", ["off", "auto"]),
            ("yap token list --container ", []),
            ("yap stats --data f", ["folder"]),
            ("yap stats --data=f", ["folder"]),
            ("yap serve --config f", ["folder", "file"]),
            ("yap backup f", ["folder", "file"]),
            ("yap completions ", ["bash", "zsh", "fish"]),
            ("yap completions bash --j", ["--json"]),
        ]
        for (example, found) in zip(examples, try await completed(examples.map(\.line))) {
            #expect(found.sorted() == example.completed.sorted(), "\(example.line)")
        }
    }

    @Test func aShellWithoutCompletionsIsWrongUsage() async throws {
        let ended = try await YapProcess.run(["completions", "tcsh"], in: folder)
        #expect(ended.code == 2 && ended.errors.contains("bash, zsh or fish"))
    }

    @Test(arguments: CompletionShell.allCases)
    func everyScriptHasEveryOption(_ shell: CompletionShell) {
        let script = shell.script(YapProgram.commands)
        for command in YapProgram.commands {
            for option in command.allOptions {
                #expect(script.contains(option.name), "\(command.name) --\(option.name)")
            }
        }
    }

    /// Text of a help that roff reads as a request would be missing in the page.
    @Test func theManualHasEveryCommandOptionAndOperand() {
        let page = ManualPage.text(YapProgram.groups)
        let plain = page.replacing("\\-", with: "-").replacing("\\fB", with: "").replacing("\\fI", with: "")
            .replacing("\\fR", with: "").replacing("\\(aq", with: "'").replacing("\\(dq", with: "\"")
        for command in YapProgram.commands {
            #expect(plain.contains(".SS \"yap \(command.name)\""))
            #expect(plain.contains("\n\(HelpText.usage(of: command))\n"), "\(command.name)")
            for option in command.allOptions {
                let value = option.value.map { " \($0)" } ?? ""
                let entry = ".TP\n--\(option.name)\(value)\n\(HelpText.help(of: option))\n"
                #expect(plain.contains(entry), "\(command.name) --\(option.name)")
            }
            for operand in command.operands {
                #expect(plain.contains(".TP\n.I \(operand.name)\n\(operand.help)\n"), "\(command.name)")
            }
        }
        let requests: Set = [
            ".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".BR", ".I", ".br", ".nf", ".fi", ".RS", ".RE",
        ]
        for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            let request = String(line.prefix { $0 != " " })
            #expect(requests.contains(request) || line.hasPrefix(".\\\""), "\(line)")
        }
    }
}
