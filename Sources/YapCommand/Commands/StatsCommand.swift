import CloudServer
import CloudService
import CloudStore

/// `yap stats`: the amount of data on a server.
enum StatsCommand {
    private static let usersDefault = 5

    static let command = Command(
        name: "stats", summary: "count records, bytes, users, zones and files of every container",
        details: """
            Reads the server's files, also while it runs. Shows the usage of the limits (limits... in yap.json) by the
            largest users and the public database, and lists users with 90 % or more of a limit. A user's limits apply
            to both environments together. Each record, tombstone and zone counts limits.rowBytes in addition to its
            bytes.
            """,
        options: [
            Command.Option(name: "container", value: "ID", help: "this container only"),
            Command.Option(
                name: "users", value: "NUMBER",
                help: "list this many of the largest users (default \(usersDefault))"),
            Command.dataOption,
        ],
        json: """
            {"environments": [{"container", "environment", "records", "recordBytes", "indexBytes", "assets",
            "assetBytes", "users", "zones", "deletedZones", "tombstones", "answers", "answerBytes", "fileBytes",
            "publicBytes", "publicBytesMax", "largestUsers": [{"account", "userRecordName", "records", "bytes",
            "percent"}]}], "full": [{"container", "account", "userRecordName", "limit", "used", "max", "percent"}]}:
            percent is a share of the limit on bytes; full lists users with 90 or more of any limit
            """,
        examples: ["init --container iCloud.com.example.todo", "stats"],
        run: run)

    /// An environment and its counts.
    private struct Row {
        let container: String
        let environment: String
        let found: StoreStatistics
    }

    /// A container, the names of its users and their usage.
    private struct Owner {
        let container: String
        let accounts: [String: String]
        let shares: UsageShares
        let near: [UsageShares.Share]
    }

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let folder = invocation.dataFolder(console)
        let usersMax = try invocation.number("users", in: 0...1_000_000) ?? usersDefault
        let limits = try ServeSettings.kept(in: folder).options.limits.assets
        if invocation.has("container") { _ = try invocation.container(in: control, console) }
        var rows: [Row] = []
        var files: [String: [StoreFile]] = [:]
        for (container, environment) in try folder.environments() {
            if let only = invocation.value("container"), only != container { continue }
            let path = try folder.storePath(container: container, environment: environment)
            guard let file = try StoreFile(path: path) else { continue }
            files[container, default: []].append(file)
            rows.append(
                Row(
                    container: container, environment: environment,
                    found: try file.statistics(usersMax: usersMax)))
        }
        let owners = try files.mapValues { UsageShares(limits: limits, files: $0) }.map { container, shares in
            (
                container,
                Owner(
                    container: container, accounts: try accounts(control, container), shares: shares,
                    near: try shares.near())
            )
        }
        let byContainer = Dictionary(uniqueKeysWithValues: owners)
        if invocation.has("json") { return try console.print(json(rows, byContainer)) }
        guard !rows.isEmpty else { return console.note("nothing was stored yet") }
        try console.print(text(rows, byContainer))
    }

    // MARK: Text

    private static func text(_ rows: [Row], _ owners: [String: Owner]) throws -> String {
        let header = [
            "CONTAINER", "ENVIRONMENT", "RECORDS", "BYTES", "FILES", "THEIR BYTES", "USERS", "ZONES",
            "ON DISK", "PUBLIC", "OF",
        ]
        let cells = rows.map { row in
            let found = row.found
            let shared = owners[row.container]?.shares.publicBytes(of: found) ?? (0, 0)
            return [
                row.container, row.environment, "\(found.records)", SizeText.bytes(found.recordBytes),
                "\(found.assets)", SizeText.bytes(found.assetBytes), "\(found.users)", "\(found.zones)",
                SizeText.bytes(found.fileBytes), SizeText.bytes(shared.0), share(shared.0, of: shared.1),
            ]
        }
        var parts = [TextTable.text(header, cells)]
        for row in rows where !row.found.largestUsers.isEmpty {
            guard let owner = owners[row.container] else { continue }
            parts.append("largest in \(row.container), \(row.environment):\n" + (try largest(row, owner)))
        }
        for container in owners.keys.sorted() {
            guard let owner = owners[container], !owner.near.isEmpty else { continue }
            parts.append("full, or nearly, in \(container):\n" + full(owner))
        }
        return parts.joined(separator: "\n\n")
    }

    private static func largest(_ row: Row, _ owner: Owner) throws -> String {
        TextTable.text(
            ["ACCOUNT", "RECORDS", "BYTES", "OF LIMIT", "USER"],
            try row.found.largestUsers.map { user in
                let taken = try owner.shares.ofPrivate(user.key.user).first
                return [
                    owner.accounts[user.key.user] ?? "-", "\(user.size.records)",
                    SizeText.bytes(user.size.bytes),
                    taken.map { share($0.used, of: $0.max) } ?? "-", user.key.user,
                ]
            })
    }

    private static func full(_ owner: Owner) -> String {
        TextTable.text(
            ["ACCOUNT", "LIMIT", "USED", "OF", "USER"],
            owner.near.map { share in
                let isBytes = share.limit.contains("Bytes")
                return [
                    owner.accounts[share.user] ?? "-", share.limit,
                    isBytes ? SizeText.bytes(share.used) : "\(share.used)",
                    Self.share(share.used, of: share.max, isBytes: isBytes), share.user,
                ]
            })
    }

    /// Formats a part of a limit, for example `93 % of 5.4 GB`.
    private static func share(_ used: Int64, of max: Int64, isBytes: Bool = true) -> String {
        "\(UsageShares.percent(used, of: max)) % of \(isBytes ? SizeText.bytes(max) : "\(max)")"
    }

    // MARK: JSON

    private static func json(_ rows: [Row], _ owners: [String: Owner]) throws -> JSON {
        let environments = try rows.compactMap { row in try owners[row.container].map { try json(row, $0) } }
        let full = owners.keys.sorted().compactMap { owners[$0] }.flatMap { owner in
            owner.near.map { share -> JSON in
                .object([
                    ("container", .string(owner.container)), ("account", .text(owner.accounts[share.user])),
                    ("userRecordName", .string(share.user)), ("limit", .string(share.limit)),
                    ("used", .integer(share.used)), ("max", .integer(share.max)),
                    ("percent", .integer(Int64(share.percent))),
                ])
            }
        }
        return .object([("environments", .array(environments)), ("full", .array(full))])
    }

    private static func json(_ row: Row, _ owner: Owner) throws -> JSON {
        let found = row.found
        let shared = owner.shares.publicBytes(of: found)
        let largest = try found.largestUsers.map { user -> JSON in
            let taken = try owner.shares.ofPrivate(user.key.user).first
            return .object([
                ("account", .text(owner.accounts[user.key.user])), ("userRecordName", .string(user.key.user)),
                ("records", .integer(user.size.records)),
                ("bytes", .integer(user.size.bytes)),
                ("percent", .integer(Int64(taken?.percent ?? 0))),
            ])
        }
        return .object([
            ("container", .string(row.container)), ("environment", .string(row.environment)),
            ("records", .integer(found.records)), ("recordBytes", .integer(found.recordBytes)),
            ("indexBytes", .integer(found.indexBytes)),
            ("assets", .integer(found.assets)), ("assetBytes", .integer(found.assetBytes)),
            ("users", .integer(found.users)), ("zones", .integer(found.zones)),
            ("deletedZones", .integer(found.deletedZones)), ("tombstones", .integer(found.tombstones)),
            ("answers", .integer(found.answers)), ("answerBytes", .integer(found.answerBytes)),
            ("fileBytes", .integer(found.fileBytes)), ("publicBytes", .integer(shared.used)),
            ("publicBytesMax", .integer(shared.max)), ("largestUsers", .array(largest)),
        ])
    }

    /// Returns the accounts by their record names in the container.
    private static func accounts(_ control: ControlStore, _ container: String) throws -> [String: String] {
        var names: [String: String] = [:]
        for account in try control.accounts.list() {
            names[try control.accounts.userRecordName(of: account, container: container)] = account.name
        }
        return names
    }
}
