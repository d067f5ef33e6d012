import CloudService
import CloudStore
import HTTPClient
import System

/// `yap webhook ...`: addresses of the operator that receive notifications too.
enum WebhookCommands {
    static let commands = [add, list, remove, test]

    private static let nameOption = Command.Option(
        name: "name", value: "NAME", help: "the webhook's name", isRequired: true)

    static let add = Command(
        name: "webhook add", summary: "send the notifications of a container to your own address",
        details: """
            Each notification of a user's subscription is sent by POST, as the JSON that the user's devices get, until
            the address responds with 2xx: after 1 second, then twice as long each time up to an hour. After a day it
            is abandoned. It can arrive twice: its ID is in X-Yap-Notification.

            Verify the sender: X-Yap-Signature is "v1=" and the HMAC-SHA-256, in hex, of the bytes of X-Yap-Timestamp, a
            point and the body, under the secret. Reject requests older than some minutes. The secret is shown once.

            The server sends to any address, also to one in its own network, because adding one requires write access
            to the server's files. It follows no redirects. A running server reads the change automatically.
            """,
        options: [
            .container, .environment, nameOption,
            Command.Option(
                name: "url", value: "URL", help: "the address, http:// or https://", isRequired: true),
            Command.Option(
                name: "database", value: "NAME", help: "only changes in this database: public or private",
                choices: ["public", "private"]),
            Command.Option(name: "type", value: "TYPE", help: "only changes of records of this type"),
            Command.dataOption,
        ],
        json:
            #"{"container", "environment", "name", "url", "secret"}: the secret in hex, its bytes are the key"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "webhook add --container iCloud.com.example.todo --name shop --url https://example.com/hook",
        ],
        run: add)

    static let list = Command(
        name: "webhook list",
        summary: "list the webhooks of a container, and the results of their requests",
        options: [.container, .environment, Command.dataOption],
        json: """
            {"webhooks": [{"name", "url", "database", "type", "waiting", "delivered", "failed", "abandoned", \
            "dropped", "lastResult", "last"}]}: last in milliseconds since 1970, null before the first
            """,
        examples: [
            "init --container iCloud.com.example.todo", "webhook list --container iCloud.com.example.todo",
        ],
        run: list)

    static let remove = Command(
        name: "webhook remove", summary: "remove a webhook, with its pending notifications",
        options: [.container, .environment, nameOption, Command.dataOption],
        json: #"{"container", "environment", "name"}"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "webhook add --container iCloud.com.example.todo --name old --url https://example.com/hook",
            "webhook remove --container iCloud.com.example.todo --name old",
        ],
        run: remove)

    static let test = Command(
        name: "webhook test", summary: "send a test notification to a webhook",
        details: "Exits with 1 if the address doesn't respond with 2xx within ten seconds.",
        options: [.container, .environment, nameOption, Command.dataOption],
        json: #"{"name", "status", "error"}: the HTTP status, or the error"#,
        examples: [
            "init --container iCloud.com.example.todo",
            "webhook add --container iCloud.com.example.todo --name local --url http://127.0.0.1:9/hook",
            "webhook test --container iCloud.com.example.todo --name local || echo 'not there'",
        ],
        run: test)

    // MARK: -

    private static func add(_ invocation: Invocation, _ console: Console) throws {
        let name = try invocation.required("name")
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }) else {
            throw Failure.usage("a webhook's name has 1 to 64 ASCII characters and no spaces")
        }
        let url = try invocation.required("url")
        guard url.hasPrefix("http://") || url.hasPrefix("https://"),
            url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), url.utf8.count <= 2_000
        else { throw Failure.usage("--url begins with http:// or https:// and has no spaces") }
        let random = SystemRandomSource()
        let secret = (0..<4).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        let added = WebhookRow(
            name: name, url: url, secret: secret, scope: try scope(invocation),
            recordType: invocation.value("type"), madeMilliseconds: SystemTimeSource().nowMilliseconds())
        try withStore(invocation, console) { store in
            try store.write { writer in
                let webhooks = try writer.notificationReader.webhooks()
                guard !webhooks.contains(where: { $0.name == name }) else {
                    throw Failure.refused(
                        "there is a webhook named \(name) already. Remove it, or take another name")
                }
                guard webhooks.count < webhooksMax else {
                    throw Failure.failed("an environment has \(webhooksMax) webhooks at most")
                }
                var changes = StoreChanges()
                changes.notifications.webhooks = [added]
                try writer.apply(changes)
            }
        }
        let shown = Hex.text(secret)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(try invocation.required("container"))),
                    ("environment", .string(try invocation.environment())), ("name", .string(name)),
                    ("url", .string(url)), ("secret", .string(shown)),
                ]))
        }
        try console.print("secret \(shown)")
        try console.print(
            "It is shown this once. Its bytes, not its hex digits, are the key of the signatures.")
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let webhooks = try rows(invocation, console)
        if invocation.has("json") {
            let rows = webhooks.map { row -> JSON in
                .object([
                    ("name", .string(row.name)), ("url", .string(row.url)),
                    ("database", .text(word(row.scope))),
                    ("type", .text(row.recordType)), ("waiting", .integer(row.waitingCount)),
                    ("delivered", .integer(row.deliveredCount)), ("failed", .integer(row.failedCount)),
                    ("abandoned", .integer(row.abandonedCount)), ("dropped", .integer(row.droppedCount)),
                    ("lastResult", .text(row.lastResult.isEmpty ? nil : row.lastResult)),
                    ("last", row.lastMilliseconds == 0 ? .null : .integer(row.lastMilliseconds)),
                ])
            }
            return try console.print(.object([("webhooks", .array(rows))]))
        }
        guard !webhooks.isEmpty else { return console.note("no webhooks") }
        try console.print(
            TextTable.text(
                [
                    "NAME", "DATABASE", "TYPE", "WAITING", "DELIVERED", "FAILED", "GIVEN UP", "DROPPED",
                    "LAST", "URL",
                ],
                webhooks.map { row in
                    [
                        row.name, word(row.scope) ?? "-", row.recordType ?? "-", "\(row.waitingCount)",
                        "\(row.deliveredCount)", "\(row.failedCount)", "\(row.abandonedCount)",
                        "\(row.droppedCount)", row.lastResult.isEmpty ? "-" : row.lastResult, row.url,
                    ]
                }))
    }

    private static func remove(_ invocation: Invocation, _ console: Console) throws {
        let row = try row(invocation, console)
        try withStore(invocation, console) { store in
            var changes = StoreChanges()
            changes.notifications.removedWebhooks = [row.name]
            let removed = changes
            try store.write { try $0.apply(removed) }
        }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(try invocation.required("container"))),
                    ("environment", .string(try invocation.environment())), ("name", .string(row.name)),
                ]))
        }
        try console.print("removed \(row.name)")
    }

    private static func test(_ invocation: Invocation, _ console: Console) throws {
        let row = try row(invocation, console)
        let container = try invocation.required("container")
        let request = try WebhookRequest(
            test: row, container: container, environment: invocation.environment(),
            nowMilliseconds: SystemTimeSource().nowMilliseconds(),
            notificationID: SystemRandomSource().nextUUID().lowercased())
        let answer = try WebhookProbe.send(request)
        let status = try? answer.get()
        var reason: String?
        if case .failure(let error) = answer { reason = "\(error)" }
        if invocation.has("json") {
            try console.print(
                .object([
                    ("name", .string(row.name)), ("status", status.map { .integer(Int64($0)) } ?? .null),
                    ("error", .text(reason)),
                ]))
        }
        guard let status, (200..<300).contains(status) else {
            throw Failure.failed(
                reason.map { "\(row.name) didn't answer: \($0)" }
                    ?? "\(row.name) answered HTTP \(status ?? 0), and not 2xx")
        }
        if !invocation.has("json") { try console.print("\(row.name) answered HTTP \(status)") }
    }

    // MARK: -

    /// Maximum webhooks of an environment: each notification step visits all of them.
    private static let webhooksMax = 16

    private static func scope(_ invocation: Invocation) throws -> StoredDatabaseKey.Scope? {
        switch invocation.value("database") {
        case nil: nil
        case "public": .publicDatabase
        case "private": .privateDatabase
        case let word?: throw Failure.usage("--database is public or private, and not \(word)")
        }
    }

    private static func word(_ scope: StoredDatabaseKey.Scope?) -> String? {
        switch scope {
        case .publicDatabase: "public"
        case .privateDatabase: "private"
        case nil: nil
        }
    }

    private static func path(_ invocation: Invocation, _ console: Console, makes: Bool) throws -> String {
        let container = try invocation.container(in: invocation.control(console), console)
        return try invocation.dataFolder(console).storePath(
            container: container, environment: invocation.environment(), makesFolders: makes)
    }

    private static func withStore(
        _ invocation: Invocation, _ console: Console, _ body: (SQLiteCloudStore) throws -> Void
    ) throws {
        let path = try path(invocation, console, makes: true)
        let hold = try invocation.dataFolder(console).mustHold(
            container: invocation.required("container"), environment: invocation.environment(),
            in: invocation.control(console))
        defer { withExtendedLifetime(hold) {} }
        let store = try SQLiteCloudStore(path: path)
        defer { store.close() }
        try body(store)
    }

    private static func rows(_ invocation: Invocation, _ console: Console) throws -> [WebhookRow] {
        guard let file = try StoreFile(path: try path(invocation, console, makes: false)) else { return [] }
        return try file.read { try $0.notificationReader.webhooks() }
    }

    private static func row(_ invocation: Invocation, _ console: Console) throws -> WebhookRow {
        let name = try invocation.required("name")
        let rows = try rows(invocation, console)
        guard let row = rows.first(where: { $0.name == name }) else {
            throw Failure.missing(
                "webhook", named: name, among: rows.map(\.name), remedy: "webhook list", console)
        }
        return row
    }
}
