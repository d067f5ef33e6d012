import CloudService
import CloudStore
import Crypto

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap account ...`: accounts that may sign in.
enum AccountCommands {
    static let create = Command(
        name: "account create", summary: "create an account",
        details: """
            An account is valid for every container of the server. Without a password from a file or the standard
            input, one is generated and shown only once. A password must have at least 8 characters.
            """,
        operands: [Command.Operand(name: "NAME", help: "letters, digits and . _ - @ +; case doesn't matter")],
        options: [
            Command.Option(name: "given-name", value: "TEXT", help: "the person's given name"),
            Command.Option(name: "family-name", value: "TEXT", help: "the person's family name"),
            Command.Option(
                name: "email", value: "ADDRESS",
                help: "for others to find the person, if the person allows it"),
            Command.Option(
                name: "developer",
                help: "allow it to use the environment development (see serve --development)"),
            .passwordFile, .passwordInput, Command.dataOption,
        ],
        json:
            #"{"account", "givenName", "familyName", "email", "developer", "disabled", "password"}: password is null "#
            + "unless it was generated",
        examples: [
            "init", "account create ann --given-name Ann --family-name Lee",
            "account create bob --password-stdin <<< 'the password of bob'",
        ],
        run: create)

    static let list = Command(
        name: "account list", summary: "list the accounts",
        options: [Command.dataOption],
        json:
            #"{"accounts": [{"account", "givenName", "familyName", "email", "developer", "disabled", "created"}]}: "#
            + "created in milliseconds since 1970",
        examples: ["init", "account list"],
        run: list)

    static let password = Command(
        name: "account password", summary: "give an account another password, and end its sessions",
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [.passwordFile, .passwordInput, Command.dataOption],
        json: #"{"account", "password"}: password is null unless it was generated"#,
        examples: ["init", "account create ann", "account password ann"],
        run: changePassword)

    static let set = Command(
        name: "account set", summary: "change an account's name, address or permissions",
        details: """
            An empty text removes a value. Others find the person only if the person allows it. A running server
            applies --developer within a second.
            """,
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [
            Command.Option(name: "given-name", value: "TEXT", help: "the person's given name"),
            Command.Option(name: "family-name", value: "TEXT", help: "the person's family name"),
            Command.Option(name: "email", value: "ADDRESS", help: "the person's address"),
            Command.Option(
                name: "developer",
                help: "allow it to use the environment development (see serve --development)"),
            Command.Option(name: "no-developer", help: "no longer allow it"), Command.dataOption,
        ],
        json: #"{"account", "givenName", "familyName", "email", "developer", "disabled"}"#,
        examples: [
            "init", "account create ann", "account set ann --email ann@example.com --given-name Ann",
            "account set ann --developer",
        ],
        run: set)

    static let disable = Command(
        name: "account disable", summary: "prevent an account from signing in, and end its sessions",
        details: """
            Its data stays. A sign-in is rejected like one with a wrong password. A new password takes effect after
            the next yap account enable.
            """,
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [Command.dataOption],
        json: #"{"account", "disabled"}"#,
        examples: ["init", "account create ann || true", "account disable ann"],
        run: disable)

    static let enable = Command(
        name: "account enable", summary: "allow an account to sign in again, with its old password",
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [Command.dataOption],
        json: #"{"account", "disabled"}"#,
        examples: ["init", "account create ann || true", "account disable ann", "account enable ann"],
        run: enable)

    static let delete = Command(
        name: "account delete", summary: "remove an account and end its sessions",
        details: """
            The account can't sign in any more, and an account created again under the same name is a new one. With
            --erase its private databases are emptied first, in every container; its records in public databases stay.
            Without --erase the data stays in the stores and is inaccessible. If erasing fails, the account is
            disabled and still exists: run the command again.
            """,
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [
            Command.Option(name: "erase", help: "delete all records and zones of its private databases too"),
            Command.Option(name: "yes", help: "don't ask for this option: it can't be undone"),
            Command.dataOption,
        ],
        json: #"{"account", "erased"}: erased counts the records"#,
        examples: ["init", "account create zoe || true", "account delete zoe --erase --yes"],
        run: remove)

    private static func set(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        guard !(invocation.has("developer") && invocation.has("no-developer")) else {
            throw Failure.usage("--developer and --no-developer exclude each other")
        }
        _ = try control.accounts.existing(named: invocation.operands[0], console)
        let account = try control.accounts.changePerson(
            ofAccount: invocation.operands[0], givenName: invocation.value("given-name"),
            familyName: invocation.value("family-name"), email: invocation.value("email"),
            isDeveloper: invocation.has("developer") ? true : invocation.has("no-developer") ? false : nil)
        if invocation.has("json") { return try console.print(.object(told(account))) }
        let told = [
            account.givenName, account.familyName, account.email, account.isDeveloper ? "(developer)" : nil,
        ].compactMap(\.self)
        try console.print(
            told.isEmpty
                ? "account \(account.name)" : "account \(account.name): " + told.joined(separator: " "))
    }

    /// Returns the members of an account's JSON.
    private static func told(_ account: ControlAccount) -> [(String, JSON)] {
        [
            ("account", .string(account.name)), ("givenName", .text(account.givenName)),
            ("familyName", .text(account.familyName)), ("email", .text(account.email)),
            ("developer", .bool(account.isDeveloper)), ("disabled", .bool(account.isDisabled)),
        ]
    }

    private static func disable(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let name = try control.accounts.existing(named: invocation.operands[0], console).name
        try control.accounts.disable(named: name)
        try done(
            "account \(name) is disabled, and its sessions ended",
            [("account", .string(name)), ("disabled", .bool(true))], invocation, console)
        for data in try invocation.environments(control, console) { try data.forgetDevices(ofAccount: name) }
    }

    private static func enable(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let name = try control.accounts.existing(named: invocation.operands[0], console).name
        try control.accounts.enable(named: name)
        try done(
            "account \(name) can sign in again", [("account", .string(name)), ("disabled", .bool(false))],
            invocation, console)
    }

    private static func remove(_ invocation: Invocation, _ console: Console) throws {
        let name = invocation.operands[0]
        let control = try invocation.control(console)
        _ = try control.accounts.existing(named: name, console)
        guard invocation.has("yes") else {
            throw Failure.usage("this can't be undone: add --yes when you mean it")
        }
        // First, so that no device writes after the erasure. The account stays disabled if a later step fails.
        try control.accounts.disable(named: name)
        let environments = try invocation.environments(control, console)
        for data in environments { try data.forgetDevices(ofAccount: name) }
        var erased = 0
        if invocation.has("erase") {
            waitForServer(invocation.dataFolder(console))
            for data in environments { erased += try data.erase(account: name) }
        }
        try control.accounts.remove(named: name)
        try done(
            "deleted \(name)" + (invocation.has("erase") ? " and \(erased) records" : ""),
            [("account", .string(name)), ("erased", .integer(Int64(erased)))], invocation, console)
    }

    /// Waits until a running server has ended the sessions, and has finished the writes of the requests that
    /// it had accepted before.
    private static func waitForServer(_ folder: DataFolder) {
        if folder.isServed { usleep(1_000_000) }
    }

    private static func done(
        _ text: String, _ json: [(String, JSON)], _ invocation: Invocation, _ console: Console
    ) throws {
        if invocation.has("json") { try console.print(.object(json)) } else { try console.print(text) }
    }

    private static func create(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let given = try invocation.newPassword(console)
        let password = try given ?? MadeUpPassword.make()
        let account = try control.accounts.add(
            name: invocation.operands[0], givenName: invocation.value("given-name"),
            familyName: invocation.value("family-name"), email: invocation.value("email"),
            passwordHash: PasswordHash(hashing: password).text, isDeveloper: invocation.has("developer"))
        if invocation.has("json") {
            return try console.print(
                .object(told(account) + [("password", given == nil ? .string(password) : .null)]))
        }
        try console.print("account \(account.name)")
        if given == nil { try MadeUpPassword.tell(password, console) }
    }

    private static func list(_ invocation: Invocation, _ console: Console) throws {
        let accounts = try invocation.control(console).accounts.list()
        if invocation.has("json") {
            let rows = accounts.map { account -> JSON in
                .object(told(account) + [("created", .integer(account.createdMilliseconds))])
            }
            return try console.print(.object([("accounts", .array(rows))]))
        }
        guard !accounts.isEmpty else { return console.note("no accounts yet: yap account create NAME") }
        let rows = accounts.map { account in
            [
                account.name,
                [account.givenName, account.familyName].compactMap(\.self).joined(separator: " "),
                account.isDeveloper ? "yes" : "-", account.isDisabled ? "yes" : "-",
                TimeText.utc(account.createdMilliseconds),
            ]
        }
        try console.print(TextTable.text(["ACCOUNT", "PERSON", "DEVELOPER", "DISABLED", "CREATED"], rows))
    }

    private static func changePassword(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let given = try invocation.newPassword(console)
        let password = try given ?? MadeUpPassword.make()
        let name = invocation.operands[0]
        _ = try control.accounts.existing(named: name, console)
        try control.accounts.setPasswordHash(PasswordHash(hashing: password).text, ofAccount: name)
        if invocation.has("json") {
            try console.print(
                .object([
                    ("account", .string(name)), ("password", given == nil ? .string(password) : .null),
                ]))
        } else {
            try console.print("account \(name) has another password; its devices must sign in again")
            if given == nil { try MadeUpPassword.tell(password, console) }
        }
        // Last: an error here must not lose a password that hasn't been shown yet.
        for data in try invocation.environments(control, console) { try data.forgetDevices(ofAccount: name) }
    }
}
