import CloudStore

/// `yap session ...`: the signed-in sessions.
enum SessionCommands {
    static let list = Command(
        name: "session list", summary: "list the sessions, and when they expire",
        details: """
            If each response returns a new token, each use extends the session. The shown time can be \
            half a minute old.
            """,
        options: [
            Command.Option(name: "account", value: "NAME", help: "those of this account only"),
            Command.dataOption,
        ],
        json: """
            {"sessions": [{"session", "account", "container", "environment", "created", "expires", "address", \
            "client"}]}: times are in milliseconds since 1970; address and client may be null
            """,
        examples: ["init", "session list"],
        run: { try list($0, $1, account: $0.value("account")) })

    static let ofAccount = Command(
        name: "account sessions",
        summary: "list an account's sessions, with time, address and client",
        details: """
            The address is that of the sign-in, and the client is the program's User-Agent. To end a session that its
            owner doesn't recognize, use account password NAME, which ends all of them.
            """,
        operands: [Command.Operand(name: "NAME", help: "the account")],
        options: [Command.dataOption],
        json: """
            {"sessions": [{"session", "account", "container", "environment", "created", "expires", "address", \
            "client"}]}: times are in milliseconds since 1970; address and client may be null
            """,
        examples: ["init", "account create ann || true", "account sessions ann"],
        run: { invocation, console in
            let name = invocation.operands[0]
            _ = try invocation.control(console).accounts.existing(named: name, console)
            try list(invocation, console, account: name)
        })

    static let end = Command(
        name: "session end",
        summary: "end a session, or all of an account: a running server applies it within a second",
        details: """
            The account's devices lose their tokens for pushes. Devices that are still signed in create new ones
            automatically.
            """,
        options: [
            Command.Option(name: "session", value: "ID", help: "the session's id from the list"),
            Command.Option(name: "account", value: "NAME", help: "all sessions of this account"),
            Command.dataOption,
        ],
        json: #"{"ended"}: number of sessions"#,
        examples: [
            "init", "account create ada", "session end --account ada",
        ],
        run: end)

    private static func list(_ invocation: Invocation, _ console: Console, account: String?) throws {
        let sessions = try invocation.control(console).sessions.list(account: account)
        if invocation.has("json") {
            let rows = sessions.map { session -> JSON in
                .object([
                    ("session", .string(session.id)), ("account", .string(session.account)),
                    ("container", .string(session.container)), ("environment", .string(session.environment)),
                    ("created", .integer(session.createdMilliseconds)),
                    ("expires", .integer(session.expiresMilliseconds)), ("address", .text(session.address)),
                    ("client", .text(session.client)),
                ])
            }
            return try console.print(.object([("sessions", .array(rows))]))
        }
        guard !sessions.isEmpty else { return console.note("no sessions") }
        try console.print(
            TextTable.text(
                [
                    "SESSION", "ACCOUNT", "CONTAINER", "ENVIRONMENT", "CREATED", "EXPIRES", "ADDRESS",
                    "CLIENT",
                ],
                sessions.map {
                    [
                        $0.id, $0.account, $0.container, $0.environment,
                        TimeText.utc($0.createdMilliseconds), TimeText.utc($0.expiresMilliseconds),
                        $0.address ?? "-", $0.client ?? "-",
                    ]
                }))
    }

    private static func end(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let count: Int
        let account: String
        switch (invocation.value("session"), invocation.value("account")) {
        case (let id?, nil):
            guard let session = try control.sessions.list().first(where: { $0.id == id }),
                try control.sessions.end(id: id)
            else { throw Failure.notThere("There is no session \(id). See: yap session list") }
            count = 1
            account = session.account
        case (nil, let name?):
            count = try control.sessions.endAll(ofAccount: name)
            account = name
        default: throw Failure.usage("one of --session and --account says what to end")
        }
        try invocation.has("json")
            ? console.print(.object([("ended", .integer(Int64(count)))])) : console.print("ended \(count)")
        // It isn't known which device tokens the session created, so all tokens of the account are deleted.
        // The other sessions create theirs again automatically.
        for data in try invocation.environments(control, console) {
            try data.forgetDevices(ofAccount: account)
        }
    }
}
