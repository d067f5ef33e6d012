import Foundation
package import HTTPClient
package import System

/// Where the clouds of a program's containers are.
package struct CloudConfiguration: Sendable {
    /// Where one container's cloud is.
    package struct Container: Hashable, Sendable {
        /// The server's address, beginning with `http://` or `https://`.
        package var server: String?
        /// `development` or `production`.
        package var environment: String?
        /// The app's token, where the server asks for one.
        package var apiToken: String?
        /// The user's token, when it isn't kept in a file.
        package var webAuthToken: String?
        /// Where the user's token is kept; nil for the usual place.
        package var credentialFile: String?
        /// What names this device; nil takes the name that is kept beside the credentials.
        package var deviceID: String?
        /// A file with the certificates of the authorities to trust; nil for the machine's.
        package var authoritiesFile: String?
        /// The name of the key by which a server asks, in the place of a user.
        package var keyID: String?
        /// The file with that key.
        package var keyFile: String?
        /// `yap` or `apple`: whose protocol the server speaks. Nil takes Apple's for Apple's host, and ours for others.
        package var serverKind: String?

        /// Says nothing yet.
        package init() {}
    }

    /// The container of `CKContainer.default()`.
    package var defaultContainer: String?
    /// The containers by their identifiers.
    package var containers: [String: Container] = [:]
    /// The cloud of every container that isn't named.
    package var everyOther: Container?
    /// The usual place of the users' tokens.
    package var credentialFile: String
    /// Files in which a configuration was looked for.
    package var filesLookedAt: [String] = []
    /// What is wrong with the configuration, so that none of it is used.
    package var mistake: String?

    /// Makes a configuration that names no cloud.
    package init(credentialFile: String) {
        self.credentialFile = credentialFile
    }

    /// What a program said by a call; it counts before the environment and the files.
    package static let given = Lock<CloudConfiguration?>(nil)

    /// What counts now.
    package static func current() -> CloudConfiguration {
        given.withLock { $0 }
            ?? CloudConfiguration(
                environment: ProcessInfo.processInfo.environment,
                currentFolder: FileManager.default.currentDirectoryPath)
    }

    /// Where the container's cloud is; with nil, the program's own container's.
    /// - Throws: `CKError.badContainer` that says what to write, and where.
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
                "The environment of the container \(identifier) is development or production: \(environment)")
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
        throw CKError(.badContainer, "The protocol of the container \(identifier) is yap or apple: \(name)")
    }

    /// The key by which a server asks; nil when none is named.
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

    /// Whether `text` is an address of the web, as it goes out.
    static func isAddress(_ text: String) -> Bool {
        (text.hasPrefix("http://") || text.hasPrefix("https://"))
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The address without a slash at its end; nil when it is none.
    static func serverURL(_ text: String) -> String? {
        guard isAddress(text), !text.contains("?"), !text.contains("#") else { return nil }
        var url = text
        while url.hasSuffix("/") { url.removeLast() }
        return url.hasSuffix(":") ? nil : url
    }

    private func advice(_ identifier: String?) -> CKError {
        let name = identifier.map { "The container \($0)" } ?? "The program's own container"
        let example = identifier ?? "iCloud.com.example.app"
        let looked =
            filesLookedAt.isEmpty ? "" : " Looked for at: \(filesLookedAt.joined(separator: ", "))."
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
/// connections and one thread.
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
