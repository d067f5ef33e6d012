import CloudServer
import CloudStore
import CloudWire

/// `yap requests`: the server's history of answered requests.
enum RequestCommands {
    private static let limitDefault = 50

    static let command = Command(
        name: "requests",
        summary: "find requests of the last days: by id, user, zone or code",
        details: """
            Reads the request history in the data folder, also while the server runs: newest first, without the values
            of fields. With --id it shows all details of one request, and the requests of its session before and
            after.
            """,
        options: [
            Command.Option(name: "id", value: "ID", help: "the request's id, as in an app's error"),
            Command.Option(name: "container", value: "ID", help: "those of this container"),
            Command.Option(name: "environment", value: "NAME", help: "development or production"),
            Command.Option(
                name: "user", value: "NAME", help: "those of this user: an account, or a record name"),
            Command.Option(name: "session", value: "ID", help: "those of this session"),
            Command.Option(name: "database", value: "NAME", help: "public or private"),
            Command.Option(name: "zone", value: "NAME", help: "those that name this zone"),
            Command.Option(name: "record", value: "NAME", help: "those that changed this record"),
            Command.Option(
                name: "administrator", value: "NAME", help: "those of this administrator; * for any"),
            Command.Option(name: "operation", value: "NAME", help: "such as records/modify"),
            Command.Option(
                name: "code", value: "CODE", help: "those that failed with it, or rejected a record with it"),
            Command.Option(name: "from", value: "TIME", help: "answered at this time (UTC) or later"),
            Command.Option(name: "to", value: "TIME", help: "answered before this time (UTC)"),
            Command.Option(name: "slow", value: "MILLISECONDS", help: "those that took at least this long"),
            Command.Option(
                name: "limit", value: "NUMBER", help: "maximum number of requests (default \(limitDefault))"),
            Command.Option(name: "before", value: "NUMBER", help: "those before this one"),
            Command.dataOption,
        ],
        json: """
            {"requests": [...], "before"}, or with --id {"request", "before": [...], "after": [...]}: as in
            docs/OPERATOR_API.md
            """,
        examples: ["init --container iCloud.com.example.todo", "requests --code CONFLICT"],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.dataFolder(console).historyPath
        let query = try query(invocation, console)
        guard StoreFile.exists(at: path) else {
            return try print(HistoryPage(), invocation, console)
        }
        let history = try HistoryFile(reading: path)
        guard let id = invocation.value("id") else {
            return try print(history.page(query), invocation, console)
        }
        guard let found = try history.request(id: id, neighboursMax: 5) else {
            throw Failure.notThere("There is no request \(id) in the history. See: yap requests")
        }
        guard !invocation.has("json") else {
            return try console.print(
                .object([
                    ("request", JSON(JSONValue(found.request))),
                    ("before", .array(found.before.map { JSON(JSONValue($0)) })),
                    ("after", .array(found.after.map { JSON(JSONValue($0)) })),
                ]))
        }
        try console.print(lines(JSON(JSONValue(found.request)), "").joined(separator: "\n"))
        guard !(found.before + found.after).isEmpty else { return }
        try console.print("\nthe same session before and after:\n" + table(found.before + found.after))
    }

    private static func query(_ invocation: Invocation, _ console: Console) throws -> HistoryQuery {
        var query = HistoryQuery()
        let control = try invocation.control(console)
        if invocation.has("container") { query.container = try invocation.container(in: control, console) }
        query.environment = invocation.value("environment")
        query.session = invocation.value("session")
        query.zone = invocation.value("zone")
        query.operation = invocation.value("operation")
        query.database = invocation.value("database")
        query.record = invocation.value("record")
        query.administrator = invocation.value("administrator")
        query.code = invocation.value("code")
        query.fromMilliseconds = try time("from", invocation)
        query.toMilliseconds = try time("to", invocation)
        query.slowMilliseconds = try invocation.number("slow", in: 0...Int.max).map { Int64($0) }
        query.before = try invocation.number("before", in: 1...Int.max).map { Int64($0) }
        query.limit = try invocation.number("limit", in: 1...100_000) ?? limitDefault
        query.rowsMax = .max
        if let name = invocation.value("user") {
            if name.hasPrefix("_") {
                query.user = name
            } else {
                let account = try control.accounts.existing(named: name, console)
                query.user = try control.accounts.userRecordName(
                    of: account, container: try invocation.container(in: control, console))
            }
        }
        return query
    }

    /// Returns the first millisecond of an option's time.
    private static func time(_ option: String, _ invocation: Invocation) throws -> Int64? {
        guard let text = invocation.value(option) else { return nil }
        guard let milliseconds = Int64(text) ?? TimeText.milliseconds(text)?.first else {
            throw Failure.usage(
                "--\(option) is a time as 2026-11-25 or 2026-11-25T10:34:25Z, or milliseconds since 1970, "
                    + "not \"\(text)\""
            )
        }
        return milliseconds
    }

    private static func print(
        _ page: HistoryPage, _ invocation: Invocation, _ console: Console
    ) throws {
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("requests", .array(page.entries.map { JSON(JSONValue($0)) })),
                    ("before", page.before.map { .integer($0) } ?? .null),
                ]))
        }
        guard !page.entries.isEmpty else { return console.note("no request in the history matches") }
        try console.print(table(page.entries))
    }

    private static func table(_ entries: [HistoryEntry]) -> String {
        TextTable.text(
            ["NUMBER", "TIME", "ID", "OPERATION", "USER", "ZONES", "STATUS", "ERRORS", "MS"],
            entries.map { entry in
                let refused = entry.recordErrors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                let errors = [entry.code].compactMap(\.self) + refused
                return [
                    "\(entry.number)", TimeText.utc(entry.timeMilliseconds), entry.id, entry.operation,
                    entry.user ?? entry.administrator ?? "-",
                    entry.zones.isEmpty ? "-" : entry.zones.joined(separator: " "),
                    "\(entry.status)", errors.isEmpty ? "-" : errors.joined(separator: ", "),
                    "\(entry.milliseconds)",
                ].map { AdminCommands.visible($0) }
            })
    }

    /// Returns a line for each value, with its path of names.
    private static func lines(_ value: JSON, _ name: String) -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { lines($0.1, name.isEmpty ? $0.0 : "\(name).\($0.0)") }
        case .array(let values):
            values.enumerated().flatMap { lines($0.element, "\(name)[\($0.offset)]") }
        default: ["\(name): \(AdminCommands.visible(value.text))"]
        }
    }
}

extension JSON {
    /// Returns the same value, with its members sorted by name.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .string("\(value)")
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map { JSON($0) })
        case .object(let members):
            self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) })
        }
    }
}
