import CloudStore

/// `yap token ...`: the apps that may use a container.
enum TokenCommands {
    static let create = Command(
        name: "token create", summary: "make an app's token for a container",
        details: """
            A container may have several apps, each with a token of its own; their users see the same databases. The
            container is made when there is none. The token is shown this once: the server keeps only its digest.
            A page's token should name the page's origin, so that no other page can use it. The sign-in page posts the
            user's token to the page that opened it, or leads to the callback with it.
            """,
        options: [
            .container,
            Command.Option(
                name: "name", value: "NAME", help: "the token's name, as the app's", isRequired: true),
            Command.Option(
                name: "origin", value: "URL",
                help: "for pages of this origin only, as https://app.example.com (default: any)",
                repeats: true),
            Command.Option(
                name: "callback", value: "URL",
                help: "the sign-in page leads here with the user's token (default: a message to its opener)"),
            Command.Option(name: "notes", value: "TEXT", help: "what you want to remember of it"),
            Command.dataOption,
        ],
        json: #"{"container", "name", "token"}"#,
        examples: [
            "init", "token create --container iCloud.com.example.todo --name \"todo app\"",
            "token create --container iCloud.com.example.todo --name page --origin https://todo.example.com",
        ],
        run: create)

    static let list = Command(
        name: "token list", summary: "list the tokens, without their secrets",
        options: [
            Command.Option(name: "container", value: "ID", help: "those of this container only"),
            Command.dataOption,
        ],
        json: """
            {"tokens": [{"container", "name", "created", "origins", "callback", "notes"}]}: created is in \
            milliseconds since 1970
            """,
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
        let token = try invocation.control(console).makeToken(
            container: container, name: name, origins: invocation.values("origin"),
            callback: invocation.value("callback"), notes: invocation.value("notes"))
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
                    ("origins", .array(token.origins.map(JSON.string))),
                    ("callback", .text(token.callback)),
                    ("notes", .text(token.notes)),
                ])
            }
            return try console.print(.object([("tokens", .array(rows))]))
        }
        guard !tokens.isEmpty else {
            return console.note("no tokens: yap token create --container ID --name NAME")
        }
        try console.print(
            TextTable.text(
                ["CONTAINER", "NAME", "CREATED", "ORIGINS", "CALLBACK", "NOTES"],
                tokens.map {
                    [
                        $0.container, $0.name, TimeText.utc($0.createdMilliseconds),
                        $0.origins.isEmpty ? "any" : $0.origins.joined(separator: " "), $0.callback ?? "-",
                        $0.notes ?? "-",
                    ]
                }))
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
