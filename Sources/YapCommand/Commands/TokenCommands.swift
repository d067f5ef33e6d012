import CloudStore

/// `yap token ...`: the apps that may use a container.
enum TokenCommands {
    static let create = Command(
        name: "token create", summary: "make an app's token for a container",
        details: """
            A container may have several apps, each with a token of its own; their users see the same databases. The
            container is made when there is none. The token is shown this once: the server keeps only its digest.
            """,
        options: [
            .container,
            Command.Option(
                name: "name", value: "NAME", help: "the token's name, as the app's", isRequired: true),
            Command.dataOption,
        ],
        json: #"{"container", "name", "token"}"#,
        examples: ["init", "token create --container iCloud.com.example.todo --name \"todo app\""],
        run: create)

    static let list = Command(
        name: "token list", summary: "list the tokens, without their secrets",
        options: [
            Command.Option(name: "container", value: "ID", help: "those of this container only"),
            Command.dataOption,
        ],
        json: #"{"tokens": [{"container", "name", "created"}]}: created is in milliseconds since 1970"#,
        examples: ["init", "token list"],
        run: list)

    static let revoke = Command(
        name: "token revoke", summary: "end a token: a running server refuses it within a second",
        options: [
            .container,
            Command.Option(name: "name", value: "NAME", help: "the token's name", isRequired: true),
            Command.dataOption,
        ],
        json: #"{"container", "name"}"#,
        examples: [
            "init", "token create --container iCloud.com.example.todo --name widget",
            "token revoke --container iCloud.com.example.todo --name widget",
        ],
        run: revoke)

    private static func create(_ invocation: Invocation, _ console: Console) throws {
        let container = try invocation.required("container")
        let name = try invocation.required("name")
        let token = try invocation.control(console).makeToken(container: container, name: name)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(container)), ("name", .string(name)), ("token", .string(token)),
                ]))
        }
        try console.print("token \(token)")
        try console.print("It is shown this once. An app takes it as: export CLOUDKIT_API_TOKEN=\(token)")
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let tokens = try invocation.control(console).tokens(container: invocation.value("container"))
        if invocation.has("json") {
            let rows = tokens.map { token -> JSON in
                .object([
                    ("container", .string(token.container)), ("name", .string(token.name)),
                    ("created", .integer(token.createdMilliseconds)),
                ])
            }
            return try console.print(.object([("tokens", .array(rows))]))
        }
        guard !tokens.isEmpty else {
            return console.note("no tokens: yap token create --container ID --name NAME")
        }
        try console.print(
            TextTable.text(
                ["CONTAINER", "NAME", "CREATED"],
                tokens.map { [$0.container, $0.name, TimeText.utc($0.createdMilliseconds)] }))
    }

    private static func revoke(_ invocation: Invocation, _ console: Console) throws {
        let container = try invocation.required("container")
        let name = try invocation.required("name")
        guard try invocation.control(console).revokeToken(container: container, name: name) else {
            throw Failure.failed("\(container) has no token named \(name). See: yap token list")
        }
        if invocation.has("json") {
            return try console.print(.object([("container", .string(container)), ("name", .string(name))]))
        }
        try console.print("revoked \(name)")
    }
}
