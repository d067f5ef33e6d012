import Foundation

/// All settings of the place where a container's cloud is, checked and complete: equal settings mean the same place.
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
    /// Where fetched files are.
    var cacheFolder: URL
    /// Where operations are that outlive their process.
    var operationsFolder: URL

    /// The one place of all in this process who mean the same.
    func resolved() -> ResolvedContainer {
        ResolvedContainer.shared.value(self) { ResolvedContainer(settings: self) }
    }

    /// A connection of its own to what is meant.
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
        // Apple's servers give another token with each answer, which has to be there when the program starts again.
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
