import CloudStore

/// `yap token ...`: tokens of the apps that may use a container.
enum TokenCommands {
    private static let environments = ["development", "production", "both"]
    private static let environment = Command.Option(
        name: "environment", value: "NAME", help: "development, production, or both (default)",
        choices: environments)

    static let create = Command(
        name: "token create", summary: "create an app's token for a container",
        details: """
            A container may have several apps, each with a token of its own; their users see the same databases. The
            container must exist, unless --create is given. The token is shown only once: the server stores only its
            digest. A page's token should name the page's origin, so that no other page can use it. The sign-in page
            posts the user's token to the page that opened it, or redirects to the callback with it. With an app token
            that has neither an origin nor a callback the page can't sign in. Apps that prompt for the password
            themselves need neither. A released app's token should be for production only, so that development rejects
            it.
            """,
        options: [
            .container,
            Command.Option(
                name: "name", value: "NAME", help: "the token's name, as the app's", isRequired: true),
            environment,
            Command.Option(
                name: "origin", value: "URL",
                help:
                    "for pages of this origin, such as https://example.com (without: no sign-in)",
                repeats: true),
            Command.Option(
                name: "callback", value: "URL",
                help:
                    "the sign-in page redirects here with the user's token (default: a message to the origin)"
            ),
            Command.Option(name: "notes", value: "TEXT", help: "your notes about the token"),
            Command.Option(name: "create", help: "create the container if it doesn't exist"),
            Command.dataOption,
        ],
        json: #"{"container", "name", "environment", "token"}: environment may be both"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "token create --container iCloud.com.example.todo --name \"todo app\"",
            "token create --container iCloud.com.example.notes --create --name \"notes app\"",
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
            {"tokens": [{"container", "name", "environment", "created", "origins", "callback", "notes"}]}: created \
            is in milliseconds since 1970; environment may be both
            """,
        examples: ["init", "token list"],
        run: list)

    static let set = Command(
        name: "token set",
        summary: "change the environments of a token: a running server applies it within a second",
        options: [
            .container,
            Command.Option(name: "name", value: "NAME", help: "the token's name", isRequired: true),
            Command.Option(
                name: "environment", value: "NAME", help: "development, production, or both",
                isRequired: true,
                choices: environments),
            Command.dataOption,
        ],
        json: #"{"container", "name", "environment"}"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "token create --container iCloud.com.example.todo --name \"tv app\"",
            "token set --container iCloud.com.example.todo --name \"tv app\" --environment production",
        ],
        run: set)

    static let revoke = Command(
        name: "token revoke", summary: "revoke a token: a running server rejects it within a second",
        options: [
            .container,
            Command.Option(name: "name", value: "NAME", help: "the token's name", isRequired: true),
            Command.dataOption,
        ],
        json: #"{"container", "name"}"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "token create --container iCloud.com.example.todo --name widget",
            "token revoke --container iCloud.com.example.todo --name widget",
        ],
        run: revoke)

    private static func create(_ invocation: Invocation, _ console: Console) throws {
        let name = try invocation.required("name")
        let environments = try environments(invocation) ?? .both
        let control = try invocation.control(console)
        let container =
            invocation.has("create")
            ? try invocation.required("container")
            : try invocation.container(in: control, console, remedy: "the same with --create")
        let token = try control.tokens.make(
            container: container, name: name, environments: environments,
            origins: invocation.values("origin"),
            callback: invocation.value("callback"), notes: invocation.value("notes"))
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(container)), ("name", .string(name)),
                    ("environment", .string(environments.rawValue)), ("token", .string(token)),
                ]))
        }
        try console.print("token \(token)")
        try console.print("It is shown this once. An app takes it as: export CLOUDKIT_API_TOKEN=\(token)")
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let tokens = try invocation.control(console).tokens.list(container: invocation.value("container"))
        if invocation.has("json") {
            let rows = tokens.map { token -> JSON in
                .object([
                    ("container", .string(token.container)), ("name", .string(token.name)),
                    ("environment", .string(token.environments.rawValue)),
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
                ["CONTAINER", "NAME", "ENVIRONMENT", "CREATED", "ORIGINS", "CALLBACK", "NOTES"],
                tokens.map {
                    [
                        $0.container, $0.name, $0.environments.rawValue, TimeText.utc($0.createdMilliseconds),
                        $0.origins.isEmpty ? "any" : $0.origins.joined(separator: " "), $0.callback ?? "-",
                        $0.notes ?? "-",
                    ]
                }))
    }

    private static func set(_ invocation: Invocation, _ console: Console) throws {
        let container = try invocation.required("container")
        let name = try invocation.required("name")
        guard let environments = try environments(invocation) else {
            throw Failure.usage("--environment is missing")
        }
        let control = try invocation.control(console)
        guard try control.tokens.setEnvironments(environments, ofToken: name, container: container) else {
            throw try noSuchToken(name, container, control, console)
        }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(container)), ("name", .string(name)),
                    ("environment", .string(environments.rawValue)),
                ]))
        }
        let place = environments == .both ? "both environments" : environments.rawValue
        try console.print("token \(name) is good in \(place)")
    }

    /// Returns the environments that the command line names, or nil if it names none.
    private static func environments(_ invocation: Invocation) throws -> TokenEnvironments? {
        guard let text = invocation.value("environment") else { return nil }
        guard let environments = TokenEnvironments(rawValue: text) else {
            throw Failure.usage("--environment is development, production or both, not \"\(text)\"")
        }
        return environments
    }

    private static func noSuchToken(
        _ name: String, _ container: String, _ control: ControlStore, _ console: Console
    ) throws -> Failure {
        .missing(
            "token", named: name, among: try control.tokens.list(container: container).map(\.name),
            "in \(container)", remedy: "token list", console)
    }

    private static func revoke(_ invocation: Invocation, _ console: Console) throws {
        let container = try invocation.required("container")
        let name = try invocation.required("name")
        let control = try invocation.control(console)
        guard try control.tokens.revoke(container: container, name: name) else {
            throw try noSuchToken(name, container, control, console)
        }
        if invocation.has("json") {
            return try console.print(.object([("container", .string(container)), ("name", .string(name))]))
        }
        try console.print("revoked \(name)")
    }
}
