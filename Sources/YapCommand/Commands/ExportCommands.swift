import CloudService
import CloudStore

/// `yap export` and `yap import`.
enum ExportCommands {
    static let export = Command(
        name: "export", summary: "write an account's data, or a container's, as lines of JSON",
        details: """
            With --account it writes the account's private database, otherwise all databases of the environment and
            its schema. It is one snapshot, also while the server runs. It includes files of records. It doesn't
            include sessions, tokens, passwords, subscriptions and change tags: use it to move data, and yap backup to
            back up a server. docs/DISK_FORMAT.md describes the format. FILE may be - for the standard output.
            """,
        operands: [Command.Operand(name: "FILE", help: "the file to write")],
        options: options,
        json: #"{"export", "records", "assets", "bytes"}; nothing when FILE is -"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann",
            "export \"todo-$(date +%N).jsonl\" --container iCloud.com.example.todo",
            "export \"ann-$(date +%N).jsonl\" --container iCloud.com.example.todo --account ann",
        ],
        run: export)

    static let importing = Command(
        name: "import", summary: "import the output of yap export, also while the server runs",
        details: """
            The whole file is checked before anything is written. If there is data already it is rejected; \
            with --merge
            records of the same name are overwritten and the others stay. Records keep their users and dates. Accounts
            that a container's export names must exist: yap account create. Devices are notified as of any change.
            """,
        operands: [Command.Operand(name: "FILE", help: "the file to read")],
        options: options + [
            Command.Option(
                name: "merge", help: "add to existing data, and overwrite records of the same name")
        ],
        json: #"{"import", "records", "assets", "bytes"}"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "export todo.jsonl --container iCloud.com.example.todo || true",
            "import todo.jsonl --container iCloud.com.example.todo",
        ],
        run: importing)

    private static let options: [Command.Option] = [
        .container, .environment,
        Command.Option(name: "account", value: "NAME", help: "the private database of this account only"),
        Command.dataOption,
    ]

    private static func export(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let data = try EnvironmentData(invocation, console)
        let (scope, names) = try scope(invocation, data)
        let progress = Progress(console)
        let output = try ExportOutput(path, console)
        var bytes: Int64 = 0
        let summary = try data.withService { service in
            try service.export(scope, names: names) { line in
                bytes += Int64(line.count)
                try output.write(line)
                try progress.step("exported \(SizeText.bytes(bytes))")
            }
        }
        try output.finish()
        if path != "-" { try print(summary, "export", path, invocation, console) }
    }

    private static func importing(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let data = try EnvironmentData(invocation, console)
        let (scope, names) = try scope(invocation, data)
        let progress = Progress(
            console, whatIsLeft: "what was imported until now stays: do it again with --merge")
        let summary = try data.withService { service in
            try service.importExport(
                into: scope, names: names, merges: invocation.has("merge"),
                from: {
                    let reader = try LineReader(path, lineBytesMax: CloudService.exportLineBytesMax)
                    return {
                        try progress.step("reading \(path)")
                        return try reader.next()
                    }
                },
                progress: { try progress.step("imported \($0.records) records, \(SizeText.bytes($0.bytes))") }
            )
        }
        try print(summary, "import", path, invocation, console)
    }

    /// Returns the data to export, and the names of users in the export.
    private static func scope(
        _ invocation: Invocation, _ data: EnvironmentData
    ) throws -> (ExportScope, ExportNames) {
        var names: [String: String] = [:]
        for account in try data.control.accounts.list() {
            let user = try data.control.accounts.userRecordName(
                of: account, container: data.container.identifier)
            names[user] = ExportNames.accountPrefix + account.name
        }
        guard let name = invocation.value("account") else {
            return (.container, ExportNames(accounts: names))
        }
        let user = try data.userRecordName(ofAccount: name)
        names[user] = ExportNames.owner
        return (.user(user), ExportNames(accounts: names))
    }

    private static func print(
        _ summary: ExportSummary, _ key: String, _ path: String, _ invocation: Invocation, _ console: Console
    ) throws {
        if invocation.has("json") {
            return try console.print(
                .object([
                    (key, .string(path)), ("records", .integer(summary.records)),
                    ("assets", .integer(summary.assets)), ("bytes", .integer(summary.bytes)),
                ]))
        }
        try console.print(
            "\(key)ed \(path): \(summary.records) records, \(summary.assets) files, \(SizeText.bytes(summary.bytes))"
        )
    }
}
