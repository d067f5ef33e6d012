import Foundation
package import HTTPClient
package import System

/// The servers of a program's containers.
package struct CloudConfiguration: Sendable {
    /// The server of one container.
    package struct Container: Hashable, Sendable {
        /// The server's URL, beginning with `http://` or `https://`.
        package var server: String?
        /// `development` or `production`.
        package var environment: String?
        /// The app's token, for servers that require one.
        package var apiToken: String?
        /// The user's token, if it isn't in a file.
        package var webAuthToken: String?
        /// The file with the user's token; nil for the default file.
        package var credentialFile: String?
        /// The device's ID; nil takes the one beside the credential file.
        package var deviceID: String?
        /// A file with the certificates of trusted authorities; nil for the system's.
        package var authoritiesFile: String?
        /// The ID of a server's key, which signs requests in place of a user's token.
        package var keyID: String?
        /// The file with that key.
        package var keyFile: String?
        /// `yap` or `apple`: the protocol of the server. Nil takes `apple` for Apple's host, and `yap` for others.
        package var serverKind: String?

        /// Makes empty settings.
        package init() {}
    }

    /// The container of `CKContainer.default()`.
    package var defaultContainer: String?
    /// The containers by their identifiers.
    package var containers: [String: Container] = [:]
    /// The settings of all other containers.
    package var everyOther: Container?
    /// The default file with the users' tokens.
    package var credentialFile: String
    /// Files that were searched for a configuration.
    package var filesLookedAt: [String] = []
    /// The error in the configuration. If set, none of it is used.
    package var mistake: String?

    /// Makes a configuration without any server.
    package init(credentialFile: String) {
        self.credentialFile = credentialFile
    }

    /// The configuration that the program has set. It takes precedence over the environment and files.
    package static let given = Lock<CloudConfiguration?>(nil)

    /// Returns the current configuration.
    package static func current() -> CloudConfiguration {
        given.withLock { $0 }
            ?? CloudConfiguration(
                environment: ProcessInfo.processInfo.environment,
                currentFolder: FileManager.default.currentDirectoryPath)
    }

    /// Resolves a container; nil is the default container.
    /// - Throws: `CKError.badContainer` with the required configuration and its file.
    func resolved(containerIdentifier: String?) throws(CKError) -> ResolvedContainer {
        if let mistake { throw CKError(.badContainer, mistake) }
        guard let identifier = containerIdentifier ?? defaultContainer else { throw advice(nil) }
        let container = containers[identifier] ?? everyOther
        guard let container, let server = container.server else { throw advice(identifier) }
        return try settings(container, identifier, server).resolved()
    }

    private func settings(
        _ container: Container, _ identifier: String, _ server: String
    ) throws(CKError) -> ContainerSettings {
        guard let url = Self.serverURL(server) else {
            throw CKError(
                .badContainer,
                "The server of the container \(identifier) has to begin with http:// or https://: \(server)")
        }
        let environment = container.environment ?? "development"
        guard ["development", "production"].contains(environment) else {
            throw CKError(
                .badContainer,
                "The environment of the container \(identifier) must be development or production, not \(environment)"
            )
        }
        let variables = ProcessInfo.processInfo.environment
        return ContainerSettings(
            identifier: identifier, serverURL: url, environment: environment,
            serverKind: try serverKind(container, identifier, url), apiToken: container.apiToken,
            webAuthToken: container.webAuthToken, serverKey: try serverKey(container, identifier),
            credentialFile: container.credentialFile ?? credentialFile, deviceID: container.deviceID,
            authoritiesFile: container.authoritiesFile,
            cacheFolder: Self.cacheFolder(variables).appendingPathComponent(
                Self.folderName(identifier), isDirectory: true),
            operationsFolder: Self.operationsFolder(variables, identifier, url, environment))
    }

    private func serverKind(
        _ container: Container, _ identifier: String, _ serverURL: String
    ) throws(CKError) -> ServerKind {
        guard let name = container.serverKind else { return ServerKind(serverURL: serverURL) }
        if let kind = ServerKind(rawValue: name) { return kind }
        throw CKError(
            .badContainer, "The protocol of the container \(identifier) must be yap or apple, not \(name)")
    }

    /// Returns the server's key, or nil if none is configured.
    private func serverKey(_ container: Container, _ identifier: String) throws(CKError) -> ServerKey? {
        switch (container.keyID, container.keyFile) {
        case (nil, nil): return nil
        case (let keyID?, let file?): return try ServerKey(keyID: keyID, file: file)
        default:
            throw CKError(
                .badContainer,
                "The container \(identifier) needs both keyID and keyFile (CLOUDKIT_KEY_ID, CLOUDKIT_KEY_FILE)."
            )
        }
    }

    /// Returns true if `text` is an HTTP URL.
    static func isAddress(_ text: String) -> Bool {
        (text.hasPrefix("http://") || text.hasPrefix("https://"))
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Returns the URL without a trailing slash, or nil if it isn't valid.
    static func serverURL(_ text: String) -> String? {
        guard isAddress(text), !text.contains("?"), !text.contains("#") else { return nil }
        var url = text
        while url.hasSuffix("/") { url.removeLast() }
        return url.hasSuffix(":") ? nil : url
    }

    private func advice(_ identifier: String?) -> CKError {
        let name = identifier.map { "The container \($0)" } ?? "The default container"
        let example = identifier ?? "iCloud.com.example.app"
        let looked =
            filesLookedAt.isEmpty ? "" : " Searched: \(filesLookedAt.joined(separator: ", "))."
        return CKError(
            .badContainer,
            """
            \(name) has no cloud behind it. Write a file cloudkit.json: {"defaultContainer": "\(example)", \
            "containers": {"\(example)": {"server": "http://127.0.0.1:8080", "environment": "development"}}}.\
            \(looked) Or set the environment variables CLOUDKIT_SERVER=http://127.0.0.1:8080 and \
            CLOUDKIT_CONTAINER=\(example), or call CKContainer.configure of the module CloudKitAdditions. In tests \
            take the container from TestCloud().device(user:) of the module CloudKitTesting.
            """)
    }
}

/// The HTTP clients of the process: one for all containers that trust the same authorities, so that they share
/// connections and a thread.
package enum HTTPClients {
    private static let clients = Lock<[String: HTTPClient]>([:])

    package static func client(authoritiesFile: String?) -> HTTPClient {
        clients.withLock { clients in
            if let client = clients[authoritiesFile ?? ""] { return client }
            var options = HTTPClientOptions()
            options.authoritiesFile = authoritiesFile
            let client = HTTPClient(options: options)
            clients[authoritiesFile ?? ""] = client
            return client
        }
    }
}
