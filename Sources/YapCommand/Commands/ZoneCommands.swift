import CloudStore
import CloudWire

/// `yap zone ...`: the custom zones of a container.
enum ZoneCommands {
    static let list = Command(
        name: "zone list", summary: "list the zones of a container, of one account or of all",
        details:
            "Default zones always exist and are not listed. Reads the server's files, also while it runs.",
        options: [
            .container, .environment,
            Command.Option(name: "account", value: "NAME", help: "the zones of this account only"),
            Command.dataOption,
        ],
        json:
            #"{"zones": [{"zoneName", "account", "ownerRecordName", "changes"}]}: changes counts all so far"#,
        examples: [
            "init --container iCloud.com.example.todo", "zone list --container iCloud.com.example.todo",
        ],
        run: list)

    static let create = Command(
        name: "zone create", summary: "create a zone in an account's private database",
        details: "Does nothing if the zone exists. Works on the server's files, also while it runs.",
        operands: [Command.Operand(name: "ZONE", help: "the zone's name")],
        options: changeOptions,
        json: #"{"zoneName", "account"}"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "zone create lists --container iCloud.com.example.todo --account ann",
        ],
        run: { try change($0, $1, .create) })

    static let delete = Command(
        name: "zone delete", summary: "delete a zone of an account with all records in it",
        operands: [Command.Operand(name: "ZONE", help: "the zone's name")],
        options: changeOptions + [
            Command.Option(name: "yes", help: "required, because it can't be undone")
        ],
        json: #"{"zoneName", "account"}"#,
        examples: [
            "init --container iCloud.com.example.todo", "account create ann || true",
            "zone create old --container iCloud.com.example.todo --account ann",
            "zone delete old --container iCloud.com.example.todo --account ann --yes",
        ],
        run: { invocation, console in
            guard invocation.has("yes") else {
                throw Failure.usage("this can't be undone: add --yes when you mean it")
            }
            try change(invocation, console, .delete)
        })

    private static let changeOptions: [Command.Option] = [
        .container, .environment,
        Command.Option(name: "account", value: "NAME", help: "the owner of the zone", isRequired: true),
        Command.dataOption,
    ]

    private static func change(
        _ invocation: Invocation, _ console: Console, _ kind: ZoneOperation.Kind
    ) throws {
        let zone = invocation.operands[0]
        let account = try invocation.required("account")
        let data = try EnvironmentData(invocation, console)
        try data.withService { try data.changeZone(zone, kind, $0, account: account) }
        if invocation.has("json") {
            return try console.print(
                .object([("zoneName", .string(zone)), ("account", .string(account))]))
        }
        try console.print("\(kind == .create ? "zone" : "deleted") \(zone)")
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let container = try invocation.container(in: control, console)
        let accounts = try owners(control, container, only: invocation.value("account"))
        let path = try invocation.dataFolder(console).storePath(
            container: container, environment: invocation.environment())
        let zones = try rows(StoreFile(path: path)).filter { zone in
            !zone.isDeleted && (!invocation.has("account") || accounts[zone.key.database.owner] != nil)
        }
        if invocation.has("json") {
            let rows = zones.map { zone -> JSON in
                .object([
                    ("zoneName", .string(zone.key.zoneName)),
                    ("account", .text(accounts[zone.key.database.owner])),
                    ("ownerRecordName", .string(zone.key.database.owner)),
                    ("changes", .integer(zone.counter)),
                ])
            }
            return try console.print(.object([("zones", .array(rows))]))
        }
        guard !zones.isEmpty else { return console.note("no zones") }
        try console.print(
            TextTable.text(
                ["ZONE", "ACCOUNT", "CHANGES", "OWNER"],
                zones.map { zone in
                    let owner = zone.key.database.owner
                    return [zone.key.zoneName, accounts[owner] ?? "-", "\(zone.counter)", owner]
                }))
    }

    /// Returns the accounts by their record names in the container.
    private static func owners(
        _ control: ControlStore, _ container: String, only name: String?
    ) throws -> [String: String] {
        let accounts = try control.accounts.list().filter { account in
            name.map { $0.lowercased() == account.name.lowercased() } ?? true
        }
        if let name, accounts.isEmpty { throw ControlError.noSuchAccount(name: name) }
        var owners: [String: String] = [:]
        for account in accounts {
            owners[try control.accounts.userRecordName(of: account, container: container)] = account.name
        }
        return owners
    }

    private static func rows(_ file: StoreFile?) throws -> [ZoneRow] {
        guard let file else { return [] }
        var rows: [ZoneRow] = []
        while true {
            let page = try file.read { try $0.zones(after: rows.last?.key, zonesMax: RecordSource.zonesMax) }
            rows += page.rows
            guard page.moreComing, !page.rows.isEmpty else { return rows }
        }
    }
}
