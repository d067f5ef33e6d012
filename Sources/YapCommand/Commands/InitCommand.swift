import CloudStore

/// `yap init`: creates the server's folder.
enum InitCommand {
    static let command = Command(
        name: "init", summary: "create a server's folder, with its own secrets",
        details: """
            Only you can access the folder (mode 0700). An existing folder stays as it is, and gets the container if
            it is new.
            """,
        options: [
            Command.dataOption,
            Command.Option(
                name: "container", value: "ID",
                help: "create this container in it; run it again for another one"),
        ],
        json:
            #"{"data", "made", "container"}: made says whether the folder is new; container may be null"#,
        examples: ["init --container iCloud.com.example.todo"],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let folder = invocation.dataFolder(console)
        let isNew = try folder.make()
        let control = try ControlStore(path: folder.controlPath)
        let container = invocation.value("container")
        if let container { try control.containers.add(container) }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("data", .string(folder.path)), ("made", .bool(isNew)), ("container", .text(container)),
                ]))
        }
        try console.print(isNew ? "made \(folder.path)" : "\(folder.path) was there already")
        if let container { try console.print("container \(container)") }
        let named = try container ?? control.containers.list().first?.identifier
        try console.print(
            "\n" + NextSteps.text(console, data: invocation.dataWords(console), container: named, url: nil))
    }
}

/// Suggested next commands after creating or starting a server.
enum NextSteps {
    /// - Parameters:
    ///   - data: The option for the folder, with a space before it.
    ///   - container: The container of the commands, or nil if there is none yet.
    ///   - url: Address of the running server, or nil if it has to be started.
    static func text(_ console: Console, data: String, container: String?, url: String?) -> String {
        let create = container == nil ? " --create" : ""
        let container = container ?? "iCloud.com.example.todo"
        let program = ShellText.word(console.program)
        var lines = ["What to type next:"]
        if url == nil { lines.append("  \(program) serve\(data)") }
        let server = url ?? "http://127.0.0.1:\(ServeCommand.portDefault)"
        lines += [
            "  \(program) account create ann\(data)",
            "  \(program) token create --container \(container)\(create) --name \"my app\"\(data)",
            "  \(program) login --server \(server) --container \(container) --account ann --api-token TOKEN",
            "An app finds the server by these:",
            "  export CLOUDKIT_SERVER=\(server)",
            "  export CLOUDKIT_CONTAINER=\(container)",
            "  export CLOUDKIT_API_TOKEN=TOKEN",
        ]
        return lines.joined(separator: "\n")
    }
}
