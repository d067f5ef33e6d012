public import CloudKit
import Foundation
import System

/// The servers of a program's containers.
///
/// ```swift
/// var configuration = CloudKitConfiguration()
/// configuration.containers["iCloud.com.example.todo"] = .init(server: "http://127.0.0.1:8080")
/// configuration.defaultContainer = "iCloud.com.example.todo"
/// CKContainer.configure(configuration)
/// ```
public struct CloudKitConfiguration: Hashable, Sendable {
    /// The server of one container.
    public struct Container: Hashable, Sendable {
        /// The server's URL, beginning with `http://` or `https://`.
        public var server: String
        /// `development` or `production`.
        public var environment: String
        /// The app's token, for servers that require one.
        public var apiToken: String?
        /// The user's token, if it isn't in a file.
        public var webAuthToken: String?
        /// The file with the user's token; nil for `$XDG_CONFIG_HOME/yap/credentials.json`. Only its owner may read the
        /// file.
        public var credentialFile: String?
        /// The device's ID on the server. Nil takes an ID that is created once and stored beside the credentials.
        /// Several devices on one machine need different IDs.
        public var deviceID: String?
        /// A file with the certificates of trusted authorities; nil for the system's.
        public var authoritiesFile: String?
        /// The ID of your server's key, which signs requests in place of a user's token.
        public var keyID: String?
        /// The file with that key, as `openssl ecparam -name prime256v1 -genkey` writes it.
        public var keyFile: String?
        /// True if the server is Apple's, so that it gets none of our extra keys. Nil decides by its host name.
        public var isApples: Bool?

        /// Makes the settings of a container. The parameters are the properties.
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

    /// Makes a configuration without any server.
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
    /// Sets the servers of this program's containers. Takes precedence over environment variables and files. Containers
    /// that have run an operation don't change.
    /// - Parameter configuration: the servers.
    public static func configure(_ configuration: CloudKitConfiguration) {
        CloudConfiguration.given.withLock { $0 = configuration.settings }
    }

    /// Makes a container with a configuration of its own, so one program can act as several devices.
    /// - Parameters:
    ///   - identifier: the container's identifier.
    ///   - configuration: its only configuration.
    public convenience init(identifier: String, configuration: CloudKitConfiguration.Container) {
        var settings = CloudConfiguration(credentialFile: CredentialFile.usualPath)
        settings.containers[identifier] = configuration.settings
        self.init(identifier: identifier, configuration: settings)
    }
}

extension CredentialFile {
    /// The default file with the users' tokens.
    static var usualPath: String {
        CloudConfiguration.folder(ProcessInfo.processInfo.environment) + "/credentials.json"
    }
}
