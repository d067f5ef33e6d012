import Foundation

/// All settings of a container, checked and complete. Containers with equal settings share one `ResolvedContainer`.
struct ContainerSettings: Hashable, Sendable {
    var identifier: String
    var serverURL: String
    var environment: String
    var serverKind: ServerKind
    var apiToken: String?
    var webAuthToken: String?
    var serverKey: ServerKey?
    var credentialFile: String
    var deviceID: String?
    var authoritiesFile: String?
    /// The folder of fetched files.
    var cacheFolder: URL
    /// The folder of long-lived operations.
    var operationsFolder: URL

    /// Returns the container that all users of equal settings in this process share.
    func resolved() -> ResolvedContainer {
        ResolvedContainer.shared.value(self) { ResolvedContainer(settings: self) }
    }

    /// Makes a connection with these settings.
    func connection() -> CloudConnection {
        let client = HTTPClients.client(authoritiesFile: authoritiesFile)
        var connection = CloudConnection(
            transport: HTTPTransport(serverURL: serverURL, client: client), execution: .threads,
            environment: environment, account: account())
        connection.serverKind = serverKind
        let signIn = [credentialFile, serverURL, identifier, environment].joined(separator: "\n")
        if serverKind == .apple { connection.tokenGate = .ofAll(signIn) }
        let sender = [signIn, webAuthToken ?? "", serverKey?.keyID ?? "", deviceID ?? ""]
        connection.throttled = .ofAll(sender.joined(separator: "\n"))
        connection.assetCache = AssetCache(folder: cacheFolder)
        connection.operationStore = LongLivedOperationStore(folder: operationsFolder)
        return connection
    }

    private func account() -> any CloudAccount {
        if let serverKey { return FixedAccount(CloudCredential(serverKey: serverKey)) }
        let file = CredentialFile(path: credentialFile)
        // Apple's servers return another token with each response. It must be stored for the next start of the program.
        guard let webAuthToken, serverKind == .yap else {
            return FileAccount(
                file: file, server: serverURL, container: identifier, environment: environment,
                apiToken: apiToken, deviceID: deviceID, givenToken: webAuthToken, watch: .shared)
        }
        return FixedAccount(
            CloudCredential(
                webAuthToken: webAuthToken, apiToken: apiToken, deviceID: deviceID ?? (try? file.deviceID())))
    }
}
