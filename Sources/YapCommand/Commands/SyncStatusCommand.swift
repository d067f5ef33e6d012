import CloudServer
import CloudService
import CloudStore
import CloudWire

/// `yap sync status`: progress of the users' devices, as the server saw it.
enum SyncStatusCommand {
    static let command = Command(
        name: "sync status", summary: "show the sync progress of each device of a user, as the server saw it",
        details: """
            Reads the request history in the data folder, also while the server runs. Shows for each device its last
            request, its last error, and for each zone its last fetch and save and the number of changes that it is
            behind. Without --user it shows the users with the most recently active devices.
            """,
        options: [
            Command.Option(name: "container", value: "ID", help: "the container"),
            Command.Option(
                name: "environment", value: "NAME", help: "development (default) or production"),
            Command.Option(name: "user", value: "NAME", help: "an account, or a record name"),
            Command.dataOption,
        ],
        json: """
            {"users": [...]}, or with --user {"devices": [...], "zones": [...]}: as in docs/OPERATOR_API.md
            """,
        examples: [
            "init --container iCloud.com.example.todo", "sync status --container iCloud.com.example.todo",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let identifier = try invocation.container(in: control, console)
        let container = CloudService.Container(
            identifier: identifier, environment: try invocation.environment())
        let user = try invocation.value("user").map { name in
            guard !name.hasPrefix("_") else { return name }
            let account = try control.accounts.existing(named: name, console)
            return try control.accounts.userRecordName(of: account, container: identifier)
        }
        let folder = invocation.dataFolder(console)
        guard StoreFile.exists(at: folder.historyPath) else {
            console.note(
                "there is no request history in \(folder.path): the server hasn't run, or runs with --history off"
            )
            let nothing: [(String, JSON)] =
                user == nil ? [("users", .array([]))] : [("devices", .array([])), ("zones", .array([]))]
            return invocation.has("json") ? try console.print(.object(nothing)) : ()
        }
        let history = try HistoryFile(reading: folder.historyPath)
        let report = SyncReport(control, folder)
        guard let user else {
            let found = try report.users(of: container, in: history)
            guard !invocation.has("json") else { return try console.print(JSON(found)) }
            return try console.print(table(ofUsers: found["users"].elements))
        }
        let found = try report.devices(of: user, in: container, history)
        guard !invocation.has("json") else { return try console.print(JSON(found)) }
        let devices = found["devices"].elements
        guard !devices.isEmpty else { return console.note("no device of this user was here lately") }
        try console.print(devices.map(text(of:)).joined(separator: "\n\n"))
    }

    private static func table(ofUsers users: [JSONValue]) -> String {
        TextTable.text(
            ["USER", "ACCOUNT", "LAST REQUEST", "DEVICES"],
            users.map { user in
                [
                    user["userRecordName"].word, user["account"].word, time(user["lastMilliseconds"]),
                    user["devicesCount"].word,
                ]
            })
    }

    private static func text(of device: JSONValue) -> String {
        var lines = [
            "session \(device["session"].word), \(device["client"].word), "
                + "last request \(time(device["lastMilliseconds"])) from \(device["address"].word)"
        ]
        let error = device["lastError"]
        if error["code"] != .null {
            lines.append(
                "last error \(error["code"].word) at \(time(error["timeMilliseconds"])), "
                    + "request \(error["requestID"].word)")
        }
        let zones = device["zones"].elements
        if !zones.isEmpty {
            lines.append(
                TextTable.text(
                    ["ZONE", "STATE", "BEHIND", "LAST FETCH", "LAST SAVE"],
                    zones.map { zone in
                        [
                            zone["zone"].word, zone["state"].word,
                            zone["behindCount"].word + (zone["behindIsCapped"] == .bool(true) ? "+" : ""),
                            time(zone["lastFetchMilliseconds"]), time(zone["lastSaveMilliseconds"]),
                        ]
                    }))
        }
        return lines.joined(separator: "\n")
    }

    private static func time(_ value: JSONValue) -> String {
        if case .integer(let milliseconds) = value { TimeText.utc(milliseconds) } else { "-" }
    }
}

extension JSONValue {
    /// The member of an object, or null if there is none.
    subscript(_ name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The elements of an array. Empty for another value.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// A text or a number, escaped for the terminal. `-` for null.
    fileprivate var word: String {
        switch self {
        case .string(let text): AdminCommands.visible(text)
        case .integer(let number): "\(number)"
        default: "-"
        }
    }
}
