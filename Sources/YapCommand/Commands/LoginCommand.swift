import CloudKit
import CloudKitAdditions
import Dispatch
import Foundation
import System

/// `yap login`: signs in from a device, for the apps on it.
enum LoginCommand {
    static let command = Command(
        name: "login", summary: "sign in to a server, and keep the user's token for the apps of this machine",
        details: """
            The token is stored in a file that only you can read, in the place where apps read it: credentials.json in
            $XDG_CONFIG_HOME/yap (usually ~/.config/yap). The command prompts for the password on the terminal.
            """,
        options: [
            Command.Option(name: "server", value: "URL", help: "the server's address", isRequired: true),
            .container, .environment,
            Command.Option(name: "api-token", value: "TOKEN", help: "the app's token", isRequired: true),
            Command.Option(name: "account", value: "NAME", help: "the account to sign in", isRequired: true),
            .passwordFile, .passwordInput,
            Command.Option(
                name: "credential-file", value: "FILE",
                help: "store the token in this file instead of the usual one"),
            Command.Option(
                name: "authorities", value: "FILE",
                help: "trust these certificates (PEM) instead of the machine's (or CLOUDKIT_AUTHORITIES_FILE)"
            ),
        ],
        json: #"{"account", "container", "server", "userRecordName"}"#,
        examples: [
            "login --server http://127.0.0.1:8080 --container iCloud.com.example.todo --api-token TOKEN --account ann"
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let account = try invocation.required("account")
        let identifier = try invocation.required("container")
        let server = try server(invocation)
        var place = CloudKitConfiguration.Container(server: server)
        place.environment = try invocation.environment()
        place.apiToken = try invocation.required("api-token")
        place.credentialFile = invocation.value("credential-file")
        place.authoritiesFile =
            invocation.value("authorities") ?? console.environment["CLOUDKIT_AUTHORITIES_FILE"]
        let password = try invocation.password(console) ?? console.secret(prompt: "Password of \(account): ")
        let container = CKContainer(identifier: identifier, configuration: place)
        let recordName = try signIn(container, account: account, password: password)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("account", .string(account)), ("container", .string(identifier)),
                    ("server", .string(server)),
                    ("userRecordName", .string(recordName)),
                ]))
        }
        try console.print(
            """
            signed in as \(account)
            An app finds the server, and this sign-in, by these:
              export CLOUDKIT_SERVER=\(ShellText.word(server))
              export CLOUDKIT_CONTAINER=\(identifier)
              export CLOUDKIT_API_TOKEN=\(ShellText.word(place.apiToken ?? ""))
            """)
        if place.environment != "development" {
            try console.print("  export CLOUDKIT_ENVIRONMENT=\(place.environment)")
        }
        if let file = place.authoritiesFile {
            let path = URL(filePath: file).path(percentEncoded: false)
            try console.print("  export CLOUDKIT_AUTHORITIES_FILE=\(ShellText.word(path))")
        }
    }

    /// Returns the server's address for apps.
    static func server(_ invocation: Invocation) throws -> String {
        var server = try invocation.required("server")
        while server.hasSuffix("/") { server.removeLast() }
        guard server.hasPrefix("http://") || server.hasPrefix("https://") else {
            throw Failure.usage("--server begins with http:// or https://, not \"\(server)\"")
        }
        return server
    }

    /// Waits on the calling thread, which is the program's main thread and not a thread of the pool.
    private static func signIn(_ container: CKContainer, account: String, password: String) throws -> String {
        let answer = Lock<Result<String, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task {
            do {
                let id = try await container.signIn(account: account, password: password)
                answer.withLock { $0 = .success(id.recordName) }
            } catch {
                answer.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        do {
            guard let name = try answer.withLock({ $0 })?.get() else {
                throw Failure.failed("No answer came.")
            }
            return name
        } catch let error as CKError {
            let text = "Not signed in: \(words(of: error))"
            throw switch error.code {
            // The server exists, but its certificate or port can't be used.
            case .networkFailure, .networkUnavailable, .serverResponseLost:
                error.connectionRefusal == nil ? Failure.unreachable(text) : Failure.failed(text)
            default: Failure.refused(text)
            }
        }
    }

    private static func words(of error: CKError) -> String {
        switch error.code {
        case .notAuthenticated:
            "the account doesn't exist, or the password is wrong. On the server, see: yap account list"
        case .networkFailure, .networkUnavailable, .serverResponseLost:
            error.connectionRefusal == nil
                ? "\(error.localizedDescription). Is the server running, and is its address right?"
                : "\(error.localizedDescription). \((error as NSError).localizedRecoverySuggestion ?? "")"
        case .badContainer: "\(error.localizedDescription). On the server, see: yap token list"
        case .requestRateLimited:
            "too many tries. Wait \(Int(error.retryAfterSeconds?.rounded(.up) ?? 1)) s, and try again."
        default: error.localizedDescription
        }
    }
}
