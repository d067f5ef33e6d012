import CloudKit
import CloudKitAdditions

/// `yap logout`: removes a sign-in of `yap login`.
enum LogoutCommand {
    static let command = Command(
        name: "logout", summary: "delete the user's token that yap login has stored on this machine",
        details: """
            Signs out the apps of this machine, including running ones. Unsent changes stay on the device until the
            same user signs in again. The server's session ends when it expires, or immediately with yap session end
            on the server.
            """,
        options: [
            Command.Option(name: "server", value: "URL", help: "the server's address", isRequired: true),
            .container, .environment,
            Command.Option(
                name: "credential-file", value: "FILE",
                help: "the token is in this file instead of the usual one"),
        ],
        json: #"{"container", "server"}"#,
        examples: ["logout --server http://127.0.0.1:8080 --container iCloud.com.example.todo"],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let identifier = try invocation.required("container")
        var place = try CloudKitConfiguration.Container(server: LoginCommand.server(invocation))
        place.environment = try invocation.environment()
        place.credentialFile = invocation.value("credential-file")
        do {
            try CKContainer(identifier: identifier, configuration: place).signOut()
        } catch let error as CKError {
            throw Failure.failed("Not signed out: \(error.localizedDescription)")
        }
        if invocation.has("json") {
            return try console.print(
                .object([("container", .string(identifier)), ("server", .string(place.server))]))
        }
        try console.print("signed out of \(place.server)")
    }
}
