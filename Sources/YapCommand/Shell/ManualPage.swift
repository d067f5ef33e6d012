/// The manual page yap(1), in roff with the macros of man(7), generated from the texts of the help.
enum ManualPage {
    static func text(_ groups: [(title: String, commands: [Command])]) -> String {
        """
        .\\" Printed by: yap manual
        .TH YAP 1 "" "yap \(YapProgram.version)" "User Commands"
        .SH NAME
        yap \\- a CloudKit service on your own machine
        .SH SYNOPSIS
        .B yap
        .I COMMAND
        [\\fIOPERAND\\fR...]
        [\\fIOPTION\\fR...]
        .br
        .B yap help
        [\\fICOMMAND\\fR]
        .br
        .B yap \\-\\-version
        .SH DESCRIPTION
        .B yap
        serves the data of apps to their users' devices, as CloudKit does, and administers what it keeps.
        To begin:
        .PP
        \(example(["init --container iCloud.com.example.todo", "serve"]))
        .PP
        Every command takes
        .B \\-\\-json
        and
        .BR \\-\\-help .
        \(groups.map(section).joined(separator: "\n"))
        .SH "EXIT STATUS"
        \(ExitCode.allCases.map { ".TP\n.B \($0.rawValue)\n\(line($0.what))" }.joined(separator: "\n"))
        .SH ENVIRONMENT
        .TP
        .B YAP_DATA
        The server's folder, if no
        .B \\-\\-data
        names it.
        .TP
        .B CLOUDKIT_AUTHORITIES_FILE
        The file of the authorities that
        .B yap login
        trusts, if no
        .B \\-\\-authorities
        names it.

        """
    }

    private static func section(_ group: (title: String, commands: [Command])) -> String {
        let title = ".SH \"\(escaped(group.title.uppercased()))\""
        return ([title] + group.commands.map(subsection)).joined(separator: "\n")
    }

    private static func subsection(_ command: Command) -> String {
        var parts = [
            ".SS \"\(escaped("yap \(command.name)"))\"",
            line(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."),
            ".PP\n" + line(HelpText.usage(of: command)),
        ]
        if !command.details.isEmpty { parts.append(".PP\n" + paragraphs(command.details)) }
        parts += command.operands.map { ".TP\n.I \(escaped($0.name))\n\(line($0.help))" }
        parts += command.allOptions.map { option in
            let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
            return ".TP\n\\fB\(escaped("--\(option.name)"))\\fR\(value)\n\(line(HelpText.help(of: option)))"
        }
        parts.append(".PP\n" + paragraphs("With --json: \(command.json)"))
        parts.append(".PP\n" + example(command.examples))
        return parts.joined(separator: "\n")
    }

    /// Returns lines that are filled, and indented ones that are kept.
    private static func paragraphs(_ text: String) -> String {
        var isIndented = false
        var lines: [String] = []
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if part.hasPrefix(" ") != isIndented {
                isIndented.toggle()
                lines += isIndented ? [".RS 4", ".nf"] : [".fi", ".RE"]
            }
            lines.append(part.isEmpty ? ".PP" : line(String(part.drop { $0 == " " })))
        }
        if isIndented { lines += [".fi", ".RE"] }
        return lines.joined(separator: "\n")
    }

    private static func example(_ lines: [String]) -> String {
        ([".RS 4", ".nf"] + lines.map { line("yap \($0)") } + [".fi", ".RE"]).joined(separator: "\n")
    }

    /// Returns a line of text that can't begin a request of roff.
    private static func line(_ text: String) -> String {
        let text = escaped(text)
        return text.hasPrefix(".") || text.hasPrefix("\\(aq") ? "\\&" + text : text
    }

    /// Returns the text with each character escaped for roff.
    private static func escaped(_ text: String) -> String {
        let names: [Character: String] = [
            "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "\"": "\\(dq",
        ]
        return text.map { names[$0] ?? String($0) }.joined()
    }
}
