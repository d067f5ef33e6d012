/// Commands about the program itself: the manual page and the completions of shells, generated from the table of
/// commands.
enum ProgramCommands {
    static let commands = [completions, manual]

    private static let completions = Command(
        name: "completions", summary: "print the script that completes yap's commands in a shell",
        details: """
            The Debian package has installed the scripts already. Elsewhere:
              bash: yap completions bash > ~/.local/share/bash-completion/completions/yap
              zsh: yap completions zsh > DIR/_yap, where DIR is a folder of $fpath
              fish: yap completions fish > ~/.config/fish/completions/yap.fish
            """,
        operands: [
            Command.Operand(
                name: "SHELL", help: "bash, zsh or fish", choices: CompletionShell.allCases.map(\.rawValue))
        ],
        json: #"{"shell", "script"}"#,
        examples: ["completions bash", "completions zsh", "completions fish"],
        run: { invocation, console in
            let name = invocation.operands[0]
            guard let shell = CompletionShell(rawValue: name) else {
                throw Failure.usage("SHELL is bash, zsh or fish, not \"\(name)\"")
            }
            let script = shell.script(YapProgram.commands)
            guard invocation.has("json") else { return try console.print(script, end: "") }
            try console.print(.object([("shell", .string(name)), ("script", .string(script))]))
        })

    private static let manual = Command(
        name: "manual", summary: "print the manual page, in roff",
        details: "To read it: yap manual | man -l -. The Debian package has installed it: man yap.",
        json: #"{"manual"}"#,
        examples: ["manual"],
        run: { invocation, console in
            let page = ManualPage.text(YapProgram.groups)
            guard invocation.has("json") else { return try console.print(page, end: "") }
            try console.print(.object([("manual", .string(page))]))
        })
}
