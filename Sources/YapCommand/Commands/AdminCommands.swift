import CloudServer
import CloudStore
import Crypto
import HTTPServer

/// `yap admin ...`: administrators of the dashboard, and the log of their actions.
enum AdminCommands {
    static let commands = [add, list, role, link, password, remove, audit]

    private static let name = Command.Operand(
        name: "NAME", help: "letters, digits and . _ - @ +; case doesn't matter")
    private static let url = Command.Option(
        name: "url", value: "URL",
        help: "the address that browsers use (default: from the settings in the data folder)")
    private static let roles =
        "look reads, change also changes data, administer also administers administrators"

    private static let add = Command(
        name: "admin add", summary: "add an administrator of the dashboard",
        details: """
            Prints a link that signs the administrator in once, within 10 minutes, to choose a password.
            Administrators aren't accounts of apps. Their actions are in the audit log.
            """,
        operands: [name],
        options: [
            Command.Option(
                name: "role", value: "ROLE", help: roles, isRequired: true,
                choices: AdministratorRole.allCases.map(\.rawValue)),
            url, Command.dataOption,
        ],
        json: #"{"administrator", "role", "link", "expires"}: expires in milliseconds since 1970"#,
        examples: ["init", "admin add maria --role administer"],
        run: { invocation, console in
            let control = try invocation.control(console)
            let role = try role(in: invocation)
            let administrator = try control.administrators.add(invocation.operands[0], role: role)
            try log(.administratorAdded, administrator.name, control, role.rawValue)
            try showLink(for: administrator, control, invocation, console)
        })

    private static let list = Command(
        name: "admin list", summary: "list the administrators",
        options: [Command.dataOption],
        json: """
            {"administrators": [{"administrator", "role", "hasPassword", "sessions", "last", "created"}]}: last may be \
            null; times are in milliseconds since 1970
            """,
        examples: ["init", "admin list"], run: showAll)

    private static let role = Command(
        name: "admin role", summary: "give an administrator another role",
        operands: [name],
        options: [
            Command.Option(
                name: "role", value: "ROLE", help: roles, isRequired: true,
                choices: AdministratorRole.allCases.map(\.rawValue)),
            Command.dataOption,
        ],
        json: #"{"administrator", "role"}"#,
        examples: [
            "init", "admin add maria --role administer || true", "admin add bob --role look || true",
            "admin role bob --role change",
        ],
        run: { invocation, console in
            let control = try invocation.control(console)
            let changed = try control.administrators
                .setRole(role(in: invocation), of: invocation.operands[0])
            try log(.roleChanged, changed.name, control, changed.role.rawValue)
            try invocation.has("json")
                ? console.print(.object(told(changed)))
                : console.print("administrator \(changed.name): \(changed.role.rawValue)")
        })

    private static let link = Command(
        name: "admin link", summary: "create a one-time link for an administrator to choose a password",
        details: "It replaces the previous link, and is valid for 10 minutes.",
        operands: [name], options: [url, Command.dataOption],
        json: #"{"administrator", "role", "link", "expires"}: expires in milliseconds since 1970"#,
        examples: ["init", "admin add maria --role administer || true", "admin link maria"],
        run: { invocation, console in
            let control = try invocation.control(console)
            let name = invocation.operands[0]
            guard let administrator = try control.administrators.administrator(named: name) else {
                throw ControlError.noSuchAdministrator(name: name)
            }
            try log(.linkMade, administrator.name, control)
            try showLink(for: administrator, control, invocation, console)
        })

    private static let password = Command(
        name: "admin password", summary: "give an administrator a password, and end all earlier sessions",
        details: """
            Without a password from a file or the standard input, one is generated and shown only once. A password
            must have at least \(Administrators.passwordCharactersMin) characters.
            """,
        operands: [name], options: [.passwordFile, .passwordInput, Command.dataOption],
        json: #"{"administrator", "password"}: password is null unless it was generated"#,
        examples: ["init", "admin add maria --role administer || true", "admin password maria"],
        run: setPassword)

    private static let remove = Command(
        name: "admin remove", summary: "remove an administrator, and end all sessions",
        details: "The last administrator with the role administer stays.",
        operands: [name], options: [Command.dataOption],
        json: #"{"administrator"}"#,
        examples: [
            "init", "admin add maria --role administer || true", "admin add carl --role look || true",
            "admin remove carl",
        ],
        run: { invocation, console in
            let name = invocation.operands[0]
            let control = try invocation.control(console)
            try control.administrators.remove(name)
            try log(.administratorRemoved, name, control)
            try invocation.has("json")
                ? console.print(.object([("administrator", .string(name))]))
                : console.print("administrator \(name) was removed")
        })

    private static let audit = Command(
        name: "admin audit", summary: "show what administrators did, newest first",
        details: """
            A line is written before a change is executed, as "begun". If it stays so, the change was interrupted. Lines
            contain no values of fields. The newest \(AuditLog.linesMax) lines are kept.
            """,
        options: [
            Command.Option(name: "administrator", value: "NAME", help: "only actions of this one"),
            Command.Option(name: "container", value: "ID", help: "only actions in this container"),
            Command.Option(name: "limit", value: "NUMBER", help: "number of lines (default 50)"),
            Command.Option(name: "before", value: "NUMBER", help: "lines with a smaller number"),
            Command.dataOption,
        ],
        json: """
            {"lines": [{"number", "time", "administrator", "role", "address", "action", "outcome", "container", \
            "environment", "database", "user", "zone", "names", "count", "requestID", "note"}]}: time in milliseconds \
            since 1970; the members from container on may be null, except names and count
            """,
        examples: ["init", "admin audit --limit 20"], run: showAudit)

    // MARK: -

    /// Adds a line to the audit log, under a name that no administrator can have.
    private static func log(
        _ action: AuditLine.Action, _ name: String, _ control: ControlStore, _ note: String? = nil
    ) throws {
        var line = AuditLine(
            administrator: "yap admin", role: "", address: "", action: action, outcome: .done)
        line.names = [name]
        line.count = 1
        line.note = note
        try control.auditLog.add(line)
    }

    private static func role(in invocation: Invocation) throws -> AdministratorRole {
        let text = try invocation.required("role")
        guard let role = AdministratorRole(rawValue: text) else {
            throw Failure.usage("--role takes look, change or administer, not \"\(text)\"")
        }
        return role
    }

    private static func told(_ administrator: Administrator) -> [(String, JSON)] {
        [
            ("administrator", .string(administrator.name)), ("role", .string(administrator.role.rawValue)),
        ]
    }

    private static func showLink(
        for administrator: Administrator, _ control: ControlStore, _ invocation: Invocation,
        _ console: Console
    ) throws {
        let made = try control.administrators.makeLink(for: administrator.name)
        let settings = try ServeSettings.kept(in: invocation.dataFolder(console))
        let link = "\(invocation.value("url") ?? settings.browserURL)/dashboard/link#\(made.secret)"
        if invocation.has("json") {
            return try console.print(
                .object(
                    told(administrator) + [
                        ("link", .string(link)), ("expires", .integer(made.expiresMilliseconds)),
                    ]))
        }
        try console.print("administrator \(administrator.name): \(administrator.role.rawValue)")
        try console.print(link)
        try console.print(
            "The link signs \(administrator.name) in once, until \(TimeText.utc(made.expiresMilliseconds)).")
    }

    private static func showAll(_ invocation: Invocation, _ console: Console) throws {
        let entries = try invocation.control(console).administrators.list()
        if invocation.has("json") {
            let rows = entries.map { entry -> JSON in
                .object(
                    told(entry.administrator) + [
                        ("hasPassword", .bool(entry.administrator.passwordHash != nil)),
                        ("sessions", .integer(Int64(entry.sessionsCount))),
                        ("last", entry.lastMilliseconds.map { .integer($0) } ?? .null),
                        ("created", .integer(entry.administrator.createdMilliseconds)),
                    ])
            }
            return try console.print(.object([("administrators", .array(rows))]))
        }
        guard !entries.isEmpty else {
            return console.note("no administrators yet: yap admin add NAME --role administer")
        }
        let rows = entries.map { entry in
            [
                entry.administrator.name, entry.administrator.role.rawValue,
                entry.administrator.passwordHash == nil ? "none yet" : "set", "\(entry.sessionsCount)",
                entry.lastMilliseconds.map { TimeText.utc($0) } ?? "-",
                TimeText.utc(entry.administrator.createdMilliseconds),
            ]
        }
        try console.print(
            TextTable.text(
                ["ADMINISTRATOR", "ROLE", "PASSWORD", "SESSIONS", "LAST REQUEST", "CREATED"], rows))
    }

    private static func setPassword(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let administrators = control.administrators
        let name = invocation.operands[0]
        guard let administrator = try administrators.administrator(named: name) else {
            throw ControlError.noSuchAdministrator(name: name)
        }
        let given = try invocation.newPassword(console)
        let password = try given ?? MadeUpPassword.make()
        try Administrators.checkPassword(password)
        try administrators.setPassword(PasswordHash(hashing: password), of: administrator.name)
        try log(.password, administrator.name, control)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("administrator", .string(administrator.name)),
                    ("password", given == nil ? .string(password) : .null),
                ]))
        }
        try console.print("administrator \(administrator.name) has another password; all sessions ended")
        if given == nil { try MadeUpPassword.tell(password, console) }
    }

    private static func showAudit(_ invocation: Invocation, _ console: Console) throws {
        let lines = try invocation.control(console).auditLog.lines(
            before: invocation.number("before", in: 1...Int.max).map { Int64($0) },
            linesMax: invocation.number("limit", in: 1...100_000) ?? 50,
            administrator: invocation.value("administrator"), container: invocation.value("container"))
        if invocation.has("json") {
            return try console.print(.object([("lines", .array(lines.map(json)))]))
        }
        guard !lines.isEmpty else { return console.note("nothing is in the audit log") }
        let rows = lines.map { line in
            [
                "\(line.number)", TimeText.utc(line.timeMilliseconds),
                line.administrator.isEmpty ? "-" : line.administrator, line.action.rawValue,
                line.outcome.rawValue, visible(place(of: line)), visible(names(of: line)),
                visible(line.note ?? "-"),
            ]
        }
        try console.print(
            TextTable.text(
                ["NUMBER", "TIME", "ADMINISTRATOR", "ACTION", "OUTCOME", "WHERE", "WHAT", "NOTE"], rows))
    }

    /// Escapes a name for the terminal. Names are chosen by others, also in rejected requests, and must not
    /// control the terminal.
    static func visible(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }

    private static func place(of line: AuditLine) -> String {
        let parts = [line.container, line.environment, line.database, line.user, line.zone].compactMap(\.self)
        return parts.isEmpty ? "-" : parts.joined(separator: "/")
    }

    private static func names(of line: AuditLine) -> String {
        let more = line.count - line.names.count
        return line.names.isEmpty
            ? "-" : line.names.joined(separator: " ") + (more > 0 ? " and \(more) more" : "")
    }

    private static func json(_ line: AuditLine) -> JSON {
        .object([
            ("number", .integer(line.number)), ("time", .integer(line.timeMilliseconds)),
            ("administrator", .string(line.administrator)), ("role", .string(line.role)),
            ("address", .string(line.address)), ("action", .string(line.action.rawValue)),
            ("outcome", .string(line.outcome.rawValue)), ("container", .text(line.container)),
            ("environment", .text(line.environment)), ("database", .text(line.database)),
            ("user", .text(line.user)), ("zone", .text(line.zone)),
            ("names", .array(line.names.map { .string($0) })), ("count", .integer(Int64(line.count))),
            ("requestID", .text(line.requestID)), ("note", .text(line.note)),
        ])
    }
}

extension ServeSettings {
    /// URL of the server for a browser on this machine, according to the settings.
    var browserURL: String {
        if let publicURL = options.publicURL { return publicURL }
        let host = ["0.0.0.0", "::"].contains(options.http.host) ? "localhost" : options.http.host
        let scheme = tlsCertificate == nil ? "http" : "https"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(options.http.port)"
    }
}
