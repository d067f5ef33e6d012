import CloudService
import CloudStore

/// `yap role ...`: custom roles of users in a container's public database.
enum RoleCommands {
    static let commands = [assign, list, revoke]

    private static let todo = "--container iCloud.com.example.todo"
    private static let schema =
        #"schema import \#(todo) - <<< 'DEFINE SCHEMA CREATE ROLE editor;'"#
    private static let roleOperand = Command.Operand(name: "ROLE", help: "a role of the schema")
    private static let options: [Command.Option] = [
        Command.Option(name: "account", value: "NAME", help: "the user", isRequired: true), .container,
        .environment, Command.dataOption,
    ]

    static let assign = Command(
        name: "role assign", summary: "give a user a role of the schema",
        details: """
            A role has the permissions that record types grant to it, in the public database. CREATE ROLE in an
            imported schema adds a role; yap schema deploy copies it to production, where users need another role
            assign. A running server applies it from its next request on.
            """,
        operands: [roleOperand], options: options,
        json: #"{"container", "environment", "account", "user", "role", "changed"}"#,
        examples: [
            "init \(todo)", "account create ann", schema, "role assign editor --account ann \(todo)",
        ],
        run: { try change($0, $1, isAssigned: true) })

    static let revoke = Command(
        name: "role revoke", summary: "take a role from a user",
        operands: [roleOperand], options: options,
        json: #"{"container", "environment", "account", "user", "role", "changed"}"#,
        examples: [
            "init \(todo)", "account create ann", schema, "role assign editor --account ann \(todo)",
            "role revoke editor --account ann \(todo)",
        ],
        run: { try change($0, $1, isAssigned: false) })

    static let list = Command(
        name: "role list", summary: "list the users with roles",
        options: [.container, .environment, Command.dataOption],
        json: #"{"users": [{"user", "account", "roles"}]}"#,
        examples: [
            "init \(todo)", "account create ann", schema, "role assign editor --account ann \(todo)",
            "role list \(todo)",
        ],
        run: list)

    private static func change(
        _ invocation: Invocation, _ console: Console, isAssigned: Bool
    ) throws {
        let files = try SchemaFiles(invocation, console)
        let environment = try invocation.environment()
        let name = try invocation.required("account")
        let role = invocation.operands[0]
        let control = try invocation.control(console)
        let account = try control.accounts.existing(named: name, console)
        let user = try control.accounts.userRecordName(of: account, container: files.container)
        let isChanged = try files.change(environment) {
            try $0.schemaMaintenance.setRole(role, ofUser: user, isAssigned: isAssigned)
        }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("container", .string(files.container)), ("environment", .string(environment)),
                    ("account", .string(account.name)), ("user", .string(user)), ("role", .string(role)),
                    ("changed", .bool(isChanged)),
                ]))
        }
        let now = isAssigned ? "has" : "does not have"
        try console.print("\(account.name) \(isChanged ? "now \(now)" : "\(now) already") the role \(role)")
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let files = try SchemaFiles(invocation, console)
        let control = try invocation.control(console)
        var names: [String: String] = [:]
        for account in try control.accounts.list() {
            names[try control.accounts.userRecordName(of: account, container: files.container)] = account.name
        }
        let users = try files.change(try invocation.environment()) { try $0.schemaMaintenance.userRoles() }
        if invocation.has("json") {
            let rows = users.map { user -> JSON in
                .object([
                    ("user", .string(user.user)), ("account", .text(names[user.user])),
                    ("roles", .array(user.roles.map { .string($0) })),
                ])
            }
            return try console.print(.object([("users", .array(rows))]))
        }
        guard !users.isEmpty else { return console.note("no user has a role") }
        try console.print(
            TextTable.text(
                ["ACCOUNT", "USER", "ROLES"],
                users.map { [names[$0.user] ?? "", $0.user, $0.roles.joined(separator: ", ")] }))
    }
}
