import CloudStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap container ...`: the containers of a server.
enum ContainerCommands {
    private static let waitMicroseconds: UInt32 = 50_000

    static let delete = Command(
        name: "container delete", summary: "delete a container, or one of its environments, with all data",
        details: """
            Prints what will be deleted: records, zones, files, subscriptions, webhooks, keys, sessions and app
            tokens. Prompts for the container's name on a terminal; otherwise it requires --yes. From then on all
            requests are rejected, also by a running server, which first responds to the requests in progress. The
            deletion runs in short steps. If it is interrupted, the server continues it, or the same command does.
            Accounts are valid for all containers, and stay. A container created again under the same name is a new
            one: tokens and keys of the old one are rejected. An emptied environment can be used again immediately,
            without its schema.
            """,
        operands: [Command.Operand(name: "ID", help: "the container's identifier")],
        options: [
            Command.Option(
                name: "environment", value: "NAME",
                help: "development or production: remove this one and keep the rest",
                choices: ["development", "production"]),
            Command.Option(name: "yes", help: "delete without a prompt; it can't be undone"),
            Command.dataOption,
        ],
        json: """
            {"container", "environment", "tokens", "environments": [{"environment", "records", "recordBytes", \
            "zones", "users", "assets", "assetBytes", "subscriptions", "webhooks", "keys", "sessions", "fileBytes", \
            "error"}], "removed"}: environment is null if the whole container is deleted; error is the reason \
            that a store can't be counted
            """,
        examples: [
            "init --container iCloud.com.example.old",
            "container delete iCloud.com.example.old --environment development --yes",
            "init --container iCloud.com.example.old", "container delete iCloud.com.example.old --yes",
        ],
        run: remove)

    private static func remove(_ invocation: Invocation, _ console: Console) throws {
        let container = invocation.operands[0]
        let environment = try invocation.value("environment").map { _ in try invocation.environment() }
        let control = try invocation.control(console)
        let folder = invocation.dataFolder(console)
        let begun = try control.containers.removals()
            .first { $0.container == container && $0.environment == environment }
        guard try begun != nil || control.containers.exists(container) else {
            throw ControlError.noSuchContainer(container)
        }
        let contents = try ContainerContents(container, environment, folder, control)
        if !invocation.has("json") { try console.print(contents.text) }
        try confirm(contents, invocation, console)
        let removal = try control.containers.beginRemoval(container: container, environment: environment)
        try finish(removal, EnvironmentRemover(folder, control), console)
        if invocation.has("json") { return try console.print(contents.json) }
        try console.print("removed \(contents.name)")
    }

    private static func confirm(
        _ contents: ContainerContents, _ invocation: Invocation, _ console: Console
    ) throws {
        guard !invocation.has("yes") else { return }
        let prompt = "This can't be undone. Type \(contents.container) to remove it: "
        guard let answer = try console.answer(prompt: prompt) else {
            throw Failure.failed(
                "This removes \(contents.name) for good. Nothing was removed. To do it: the same with --yes.")
        }
        guard answer == contents.container else { throw Failure.failed("Nothing was removed.") }
    }

    /// Removes a container or an environment. Waits while other processes have it open or are removing it.
    private static func finish(
        _ removal: ControlRemoval, _ remover: EnvironmentRemover, _ console: Console
    ) throws {
        let progress = Progress(
            console, whatIsLeft: "it can't be used; a server, or the same command, continues the removal")
        while true {
            let outcome = try remover.run(removal) { try progress.step("removing: \($0) files") }
            guard outcome == .inUse else { return }
            try progress.step("waiting for a process that has it open, or for a backup")
            usleep(waitMicroseconds)
        }
    }
}

/// Contents that are removed with a container, or with one environment of it.
struct ContainerContents {
    private struct Environment {
        let name: String
        let counts: StoreStatistics
        let error: String?
        let keys: Int
        let sessions: Int
    }

    let container: String
    private let environment: String?
    private let tokens: Int
    private let environments: [Environment]

    /// Counts the contents.
    init(
        _ container: String, _ environment: String?, _ folder: DataFolder, _ control: ControlStore
    ) throws {
        self.container = container
        self.environment = environment
        tokens = environment == nil ? try control.tokens.list(container: container).count : 0
        let keys = try control.serverKeys.list(container: container)
        let sessions = try control.sessions.list().filter { $0.container == container }
        environments = try (environment.map { [$0] } ?? ["development", "production"]).map { name in
            var (counts, error) = (StoreStatistics(), String?.none)
            do {
                let path = try folder.storePath(container: container, environment: name)
                if let file = try StoreFile(path: path) { counts = try file.statistics(usersMax: 0) }
            } catch let problem as CloudStoreError {
                // An unreadable file can still be removed.
                error = "\(problem)"
            }
            return Environment(
                name: name, counts: counts, error: error, keys: keys.count { $0.environment == name },
                sessions: sessions.count { $0.environment == name })
        }
    }

    var name: String { environment.map { "\(container), \($0)" } ?? container }

    var text: String {
        let rows = environments.map { environment in
            let counts = environment.counts
            return [
                environment.name, "\(counts.records)", SizeText.bytes(counts.recordBytes), "\(counts.zones)",
                "\(counts.users)", "\(counts.assets)", SizeText.bytes(counts.assetBytes),
                "\(counts.subscriptions)", "\(counts.webhooks)", "\(environment.keys)",
                "\(environment.sessions)",
            ]
        }
        let header = [
            "ENVIRONMENT", "RECORDS", "BYTES", "ZONES", "USERS", "FILES", "THEIR BYTES", "SUBSCRIPTIONS",
            "WEBHOOKS", "KEYS", "SESSIONS",
        ]
        var lines = ["\(name), with all that is in it:", TextTable.text(header, rows)]
        if environment == nil { lines.append("and \(tokens) app token\(tokens == 1 ? "" : "s")") }
        lines += environments.compactMap { environment in
            environment.error.map { "\(environment.name) can't be counted: \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    var json: JSON {
        .object([
            ("container", .string(container)), ("environment", .text(environment)),
            ("tokens", .integer(Int64(tokens))),
            (
                "environments",
                .array(
                    environments.map { environment in
                        let counts = environment.counts
                        return .object([
                            ("environment", .string(environment.name)), ("records", .integer(counts.records)),
                            ("recordBytes", .integer(counts.recordBytes)), ("zones", .integer(counts.zones)),
                            ("users", .integer(counts.users)), ("assets", .integer(counts.assets)),
                            ("assetBytes", .integer(counts.assetBytes)),
                            ("subscriptions", .integer(counts.subscriptions)),
                            ("webhooks", .integer(counts.webhooks)),
                            ("keys", .integer(Int64(environment.keys))),
                            ("sessions", .integer(Int64(environment.sessions))),
                            ("fileBytes", .integer(counts.fileBytes)), ("error", .text(environment.error)),
                        ])
                    })
            ), ("removed", .bool(true)),
        ])
    }
}
