public import CloudKit
import Foundation
import System

/// Where the clouds of a program's containers are.
///
///     var configuration = CloudKitConfiguration()
///     configuration.containers["iCloud.com.example.todo"] = .init(server: "http://127.0.0.1:8080")
///     configuration.defaultContainer = "iCloud.com.example.todo"
///     CKContainer.configure(configuration)
public struct CloudKitConfiguration: Hashable, Sendable {
    /// Where one container's cloud is.
    public struct Container: Hashable, Sendable {
        /// The server's address, beginning with `http://` or `https://`.
        public var server: String
        /// `development` or `production`.
        public var environment: String
        /// The app's token, where the server asks for one.
        public var apiToken: String?
        /// The user's token, when it isn't kept in a file.
        public var webAuthToken: String?
        /// Where the user's token is kept; nil for `$XDG_CONFIG_HOME/yap/credentials.json`. The file is one that only
        /// the user may read.
        public var credentialFile: String?
        /// What names this device to the server; nil takes a name that is made once and kept beside the credentials.
        /// Several devices of one machine need one each.
        public var deviceID: String?
        /// A file with the certificates of the authorities to trust; nil for the machine's.
        public var authoritiesFile: String?
        /// The name of the key by which a server of yours asks in the place of a user. With it no token is sent.
        public var keyID: String?
        /// The file with that key, as `openssl ecparam -name prime256v1 -genkey` writes it.
        public var keyFile: String?
        /// Whether the server is Apple's, so that nothing of ours is sent to it; nil looks at its name.
        public var isApples: Bool?

        /// Names a server.
        public init(
            server: String, environment: String = "development", apiToken: String? = nil,
            webAuthToken: String? = nil, credentialFile: String? = nil, deviceID: String? = nil,
            authoritiesFile: String? = nil, keyID: String? = nil, keyFile: String? = nil,
            isApples: Bool? = nil
        ) {
            self.keyID = keyID
            self.keyFile = keyFile
            self.isApples = isApples
            self.server = server
            self.environment = environment
            self.apiToken = apiToken
            self.webAuthToken = webAuthToken
            self.credentialFile = credentialFile
            self.deviceID = deviceID
            self.authoritiesFile = authoritiesFile
        }
    }

    /// The container of `CKContainer.default()`.
    public var defaultContainer: String?
    /// The containers by their identifiers.
    public var containers: [String: Container] = [:]

    /// Makes a configuration that names no cloud yet.
    public init() {}

    var settings: CloudConfiguration {
        var settings = CloudConfiguration(credentialFile: CredentialFile.usualPath)
        settings.defaultContainer = defaultContainer
        settings.containers = containers.mapValues(\.settings)
        return settings
    }
}

extension CloudKitConfiguration.Container {
    fileprivate var settings: CloudConfiguration.Container {
        var settings = CloudConfiguration.Container()
        settings.server = server
        settings.environment = environment
        settings.apiToken = apiToken
        settings.webAuthToken = webAuthToken
        settings.credentialFile = credentialFile
        settings.deviceID = deviceID
        settings.authoritiesFile = authoritiesFile
        settings.keyID = keyID
        settings.keyFile = keyFile
        settings.serverKind = isApples.map { $0 ? "apple" : "yap" }
        return settings
    }
}

extension CKContainer {
    /// Says where the clouds of this program's containers are. It counts before the environment variables and the
    /// files, for containers that haven't run an operation yet.
    public static func configure(_ configuration: CloudKitConfiguration) {
        CloudConfiguration.given.withLock { $0 = configuration.settings }
    }

    /// The container with `identifier` on a cloud of its own: so a program can be several devices.
    public convenience init(identifier: String, configuration: CloudKitConfiguration.Container) {
        var settings = CloudConfiguration(credentialFile: CredentialFile.usualPath)
        settings.containers[identifier] = configuration.settings
        self.init(identifier: identifier, configuration: settings)
    }
}

extension CredentialFile {
    /// The usual place of the users' tokens.
    static var usualPath: String {
        CloudConfiguration.folder(ProcessInfo.processInfo.environment) + "/credentials.json"
    }
}
