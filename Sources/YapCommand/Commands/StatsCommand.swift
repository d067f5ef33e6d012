import CloudService
import CloudStore

/// `yap stats`: how much a server keeps.
enum StatsCommand {
    private static let usersDefault = 5

    static let command = Command(
        name: "stats", summary: "count records, bytes, users, zones and files of every container",
        details: "Reads the server's files, also while it runs.",
        options: [
            Command.Option(name: "container", value: "ID", help: "this container only"),
            Command.Option(
                name: "users", value: "NUMBER",
                help: "name so many of the largest users (default \(usersDefault))"),
            Command.dataOption,
        ],
        json: """
            {"environments": [{"container", "environment", "records", "recordBytes", "assets", "assetBytes", "users",
            "zones", "deletedZones", "tombstones", "answers", "answerBytes", "fileBytes",
            "largestUsers": [{"account", "userRecordName", "records", "bytes"}]}]}
            """,
        examples: ["init --container iCloud.com.example.todo", "stats"],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let folder = invocation.dataFolder(console)
        let usersMax = try invocation.number("users", in: 0...1_000_000) ?? usersDefault
        var rows: [(container: String, environment: String, found: StoreStatistics)] = []
        for (container, environment) in try folder.environments() {
            if let only = invocation.value("container"), only != container { continue }
            let path = try folder.storePath(container: container, environment: environment)
            guard let file = try StoreFile(path: path) else { continue }
            rows.append((container, environment, try file.statistics(usersMax: usersMax)))
        }
        if invocation.has("json") {
            let json = try rows.map { try Self.json($0.container, $0.environment, $0.found, control) }
            return try console.print(.object([("environments", .array(json))]))
        }
        guard !rows.isEmpty else { return console.note("nothing was stored yet") }
        let header = [
            "CONTAINER", "ENVIRONMENT", "RECORDS", "BYTES", "FILES", "THEIR BYTES", "USERS", "ZONES",
            "ON DISK",
        ]
        try console.print(
            TextTable.text(
                header,
                rows.map { row in
                    let found = row.found
                    return [
                        row.container, row.environment, "\(found.records)", SizeText.bytes(found.recordBytes),
                        "\(found.assets)", SizeText.bytes(found.assetBytes), "\(found.users)",
                        "\(found.zones)",
                        SizeText.bytes(found.fileBytes),
                    ]
                }))
        for row in rows where !row.found.largestUsers.isEmpty {
            let names = try Self.accounts(control, row.container)
            try console.print("\nlargest in \(row.container), \(row.environment):")
            try console.print(
                TextTable.text(
                    ["ACCOUNT", "RECORDS", "BYTES", "USER"],
                    row.found.largestUsers.map { user in
                        [
                            names[user.key.user] ?? "-", "\(user.size.records)",
                            SizeText.bytes(user.size.recordBytes + user.size.assetBytes), user.key.user,
                        ]
                    }))
        }
    }

    private static func json(
        _ container: String, _ environment: String, _ found: StoreStatistics, _ control: ControlStore
    ) throws -> JSON {
        let names = try accounts(control, container)
        return .object([
            ("container", .string(container)), ("environment", .string(environment)),
            ("records", .integer(found.records)), ("recordBytes", .integer(found.recordBytes)),
            ("assets", .integer(found.assets)), ("assetBytes", .integer(found.assetBytes)),
            ("users", .integer(found.users)), ("zones", .integer(found.zones)),
            ("deletedZones", .integer(found.deletedZones)), ("tombstones", .integer(found.tombstones)),
            ("answers", .integer(found.answers)), ("answerBytes", .integer(found.answerBytes)),
            ("fileBytes", .integer(found.fileBytes)),
            (
                "largestUsers",
                .array(
                    found.largestUsers.map { user in
                        .object([
                            ("account", .text(names[user.key.user])),
                            ("userRecordName", .string(user.key.user)),
                            ("records", .integer(user.size.records)),
                            ("bytes", .integer(user.size.recordBytes + user.size.assetBytes)),
                        ])
                    })
            ),
        ])
    }

    /// The accounts by their record names in the container.
    private static func accounts(_ control: ControlStore, _ container: String) throws -> [String: String] {
        var names: [String: String] = [:]
        for account in try control.accounts() {
            names[try control.userRecordName(of: account, container: container)] = account.name
        }
        return names
    }
}
