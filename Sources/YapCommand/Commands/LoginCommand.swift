/// `yap login`: signs in from a device, for the apps on it.
enum LoginCommand {
    static let command = Command(
        name: "login", summary: "sign in to a server, and keep the user's token for the apps of this machine",
        details: """
            The token goes into a file that only you can read, where apps look for it. The password is asked for on
            the terminal.
            """,
        options: [
            Command.Option(name: "server", value: "URL", help: "the server's address", isRequired: true),
            .container, .environment,
            Command.Option(name: "api-token", value: "TOKEN", help: "the app's token", isRequired: true),
            Command.Option(name: "account", value: "NAME", help: "who signs in", isRequired: true),
            .passwordFile, .passwordInput,
            Command.Option(
                name: "credential-file", value: "FILE",
                help: "keep the token there instead of the usual place"),
        ],
        json:
            #"{"account", "userRecordName", "expires", "credentialFile"}: expires is in milliseconds since 1970"#,
        examples: [
            "login --server http://127.0.0.1:8080 --container iCloud.com.example.todo --api-token TOKEN --account ann"
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        throw Failure.failed("not yet")
    }
}
