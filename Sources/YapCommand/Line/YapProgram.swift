import HTTPServer
import SQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program `yap`: finds the command, runs it, and converts its result to an exit code.
enum YapProgram {
    /// Version of the whole package, printed by `yap --version`. It is also at the top of CHANGELOG.md.
    static let version = "0.1.0"

    /// The commands in the groups of the help.
    static let groups: [(title: String, commands: [Command])] = [
        (
            "The server",
            [InitCommand.command, ServeCommand.command, DoctorCommand.command, StatsCommand.command]
        ),
        (
            "Its containers, and the apps and programs that may use them",
            [
                ContainerCommands.list, ContainerCommands.delete, TokenCommands.create, TokenCommands.list,
                TokenCommands.set, TokenCommands.revoke, KeyCommands.create, KeyCommands.list,
                KeyCommands.revoke,
            ] + WebhookCommands.commands
        ),
        (
            "Its users",
            [
                AccountCommands.create, AccountCommands.list, AccountCommands.password, AccountCommands.set,
                AccountCommands.disable, AccountCommands.enable, AccountCommands.delete,
                SessionCommands.ofAccount, SessionCommands.list, SessionCommands.end,
            ] + RoleCommands.commands
        ),
        ("Schemas", SchemaCommands.commands),
        (
            "Its data",
            [
                RequestCommands.command, SyncStatusCommand.command, RecordCommands.query, RecordCommands.get,
                RecordChangeCommands.save,
                RecordChangeCommands.delete, ZoneCommands.list, ZoneCommands.create, ZoneCommands.delete,
                ExportCommands.export, ExportCommands.importing,
            ]
        ),
        ("Its dashboard", AdminCommands.commands),
        ("Backups", [BackupCommands.backup, BackupCommands.restore, BackupCommands.restored]),
        (
            "A device",
            [LoginCommand.command, LogoutCommand.command, SyncCommands.inspect] + DatabaseCommands.commands
        ),
        ("The program itself", ProgramCommands.commands),
    ]

    static let commands = groups.flatMap(\.commands)

    static func run(_ words: [String], _ console: Console) -> Int32 {
        // If the reader of the output closes it, the write fails, which is sufficient.
        signal(SIGPIPE, SIG_IGN)
        // Files of a server and of a login are for their owner only.
        umask(0o077)
        // Otherwise threads that read at the same time would wait for each other at each allocation of SQLite.
        SQLiteProcess.turnOffMemoryStatistics()
        do {
            try run(words[...], console)
            return ExitCode.done.rawValue
        } catch {
            if let text = text(of: error) { console.note("yap: \(text)") }
            return ExitCode(error).rawValue
        }
    }

    /// Returns the message of an error, or nil if it can't be reported.
    private static func text(of error: any Error) -> String? {
        switch error {
        case Failure.outputClosed: nil
        case Failure.usage(let text), Failure.failed(let text), Failure.notThere(let text),
            Failure.refused(let text), Failure.unreachable(let text):
            text
        case let error as HTTPServerError: error.message
        default: "\(error)"
        }
    }

    private static func run(_ words: ArraySlice<String>, _ console: Console) throws {
        switch words.first {
        case nil, "--help", "-h": try console.print(HelpText.overview(groups), end: "")
        case "--version": try printVersion(asJSON: words.contains("--json"), console)
        case "help":
            let rest = words.dropFirst()
            if rest.isEmpty { return try run([], console) }
            let (command, _) = try find(rest)
            try console.print(HelpText.text(of: command), end: "")
        default:
            let (command, rest) = try find(words)
            do {
                let invocation = try ArgumentParser.parse(Array(rest), for: command)
                if invocation.has("help") {
                    return try console.print(HelpText.text(of: command), end: "")
                }
                try command.run(invocation, console)
            } catch Failure.usage(let text) {
                throw Failure.usage("\(text). See: yap \(command.name) --help")
            }
        }
    }

    private static func printVersion(asJSON: Bool, _ console: Console) throws {
        if asJSON {
            try console.print(.object([("version", .string(version))]))
        } else {
            try console.print("yap \(version)")
        }
    }

    private static func find(_ words: ArraySlice<String>) throws -> (Command, ArraySlice<String>) {
        let found = commands.first { command in
            words.starts(with: command.name.split(separator: " ").map(String.init))
        }
        if let found { return (found, words.dropFirst(found.name.split(separator: " ").count)) }
        let first = words.first ?? ""
        let family = commands.map(\.name).filter { $0.hasPrefix(first + " ") }
        guard family.isEmpty else {
            throw Failure.usage("\(first) needs another word: \(family.joined(separator: ", "))")
        }
        // `tokn` and `tokn create` are both typing errors.
        let names = Set(
            commands.map(\.name)
                + commands.flatMap { $0.name.split(separator: " ").prefix(1) }.map(String.init))
        let nearest = Nearest.sorted(names, to: words.prefix(2).joined(separator: " ")).first
        throw Failure.usage(
            "there is no command \"\(first)\"; the nearest is \(nearest ?? "help"). See: yap help")
    }
}
