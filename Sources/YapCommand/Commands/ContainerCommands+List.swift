import CloudStore

extension ContainerCommands {
    static let list = Command(
        name: "container list", summary: "list the containers and their contents",
        details: """
            An environment is listed after its first request, which creates its store. A container that is being
            removed is marked as such, and rejects all requests.
            """,
        options: [Command.dataOption],
        json: """
            {"containers": [{"container", "created", "environments": [names], "tokens", "keys", "isBeingRemoved"}]}: \
            created is in milliseconds since 1970
            """,
        examples: ["init --container iCloud.com.example.todo", "container list"],
        run: list)

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let environments = try invocation.dataFolder(console).environments()
        let (tokens, keys, removals) = (
            try control.tokens.list(), try control.serverKeys.list(), try control.containers.removals()
        )
        let rows = try control.containers.list().map { container in
            let name = container.identifier
            return (
                container: container,
                environments: environments.filter { $0.container == name }.map(\.environment).sorted(),
                tokensCount: tokens.count { $0.container == name },
                keysCount: keys.count { $0.container == name },
                isBeingRemoved: removals.contains { $0.container == name && $0.environment == nil }
            )
        }
        if invocation.has("json") {
            let members = rows.map { row -> JSON in
                .object([
                    ("container", .string(row.container.identifier)),
                    ("created", .integer(row.container.createdMilliseconds)),
                    ("environments", .array(row.environments.map { .string($0) })),
                    ("tokens", .integer(Int64(row.tokensCount))), ("keys", .integer(Int64(row.keysCount))),
                    ("isBeingRemoved", .bool(row.isBeingRemoved)),
                ])
            }
            return try console.print(.object([("containers", .array(members))]))
        }
        guard !rows.isEmpty else { return console.note("no containers: yap init --container ID") }
        try console.print(
            TextTable.text(
                ["CONTAINER", "CREATED", "TOKENS", "KEYS", "ENVIRONMENTS"],
                rows.map { row in
                    [
                        row.container.identifier, TimeText.utc(row.container.createdMilliseconds),
                        "\(row.tokensCount)", "\(row.keysCount)",
                        row.isBeingRemoved
                            ? "is being removed"
                            : row.environments.isEmpty ? "-" : row.environments.joined(separator: ", "),
                    ]
                }))
    }
}
