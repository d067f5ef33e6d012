import CloudStore
import CloudWire
import SQLiteTestSupport

/// A data folder for `yap serve` with one container, some accounts, and a session of each.
final class ServerFolder: Sendable {
    private let folder: TemporaryFolder
    /// The sessions' tokens, in the order of the accounts.
    let tokens: [Credential]

    var path: String { folder.path }
    var dataFolder: DataFolder { DataFolder(path: folder.path) }

    init(accounts: [String]) throws {
        folder = try TemporaryFolder()
        let dataFolder = DataFolder(path: folder.path)
        _ = try dataFolder.make()
        let control = try ControlStore(path: dataFolder.controlPath)
        _ = try control.containers.add(RawDevice.container)
        let apiToken = try control.tokens.make(container: RawDevice.container, name: "tests")
        tokens = try accounts.map { name in
            let account = try control.accounts.add(name: name, passwordHash: "x")
            let session = try control.sessions.make(
                of: account, container: RawDevice.container, environment: "development")
            return Credential(webAuthToken: session.token, apiToken: apiToken)
        }
    }
}
