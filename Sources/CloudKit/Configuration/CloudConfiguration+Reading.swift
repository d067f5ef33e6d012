internal import CloudWire
internal import Crypto
import Foundation
internal import System

extension CloudConfiguration {
    /// Maximum bytes of a configuration file.
    private static let fileBytesMax = 1 << 20

    /// Reads the environment variables and the first existing configuration file. Variables take precedence.
    package init(environment: [String: String], currentFolder: String) {
        let yapFolder = Self.folder(environment)
        self.init(credentialFile: yapFolder + "/credentials.json")
        func variable(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let paths: [String]
        if let named = variable("CLOUDKIT_CONFIGURATION") {
            paths = [Self.absolute(named, in: currentFolder)]
        } else {
            paths = [currentFolder + "/cloudkit.json", yapFolder + "/cloudkit.json"]
        }
        filesLookedAt = paths
        let path = paths.first { access($0, F_OK) == 0 }
        if let path {
            read(path)
        } else if let named = variable("CLOUDKIT_CONFIGURATION") {
            mistake = "CLOUDKIT_CONFIGURATION names \(named), which doesn't exist."
        }
        var said = Container()
        said.server = variable("CLOUDKIT_SERVER")
        said.environment = variable("CLOUDKIT_ENVIRONMENT")
        said.apiToken = variable("CLOUDKIT_API_TOKEN")
        said.webAuthToken = variable("CLOUDKIT_WEB_AUTH_TOKEN")
        said.deviceID = variable("CLOUDKIT_DEVICE_ID")
        said.authoritiesFile = variable("CLOUDKIT_AUTHORITIES_FILE").map {
            Self.absolute($0, in: currentFolder)
        }
        said.keyID = variable("CLOUDKIT_KEY_ID")
        said.keyFile = variable("CLOUDKIT_KEY_FILE").map { Self.absolute($0, in: currentFolder) }
        said.serverKind = variable("CLOUDKIT_PROTOCOL")
        if let identifier = variable("CLOUDKIT_CONTAINER") {
            defaultContainer = identifier
            containers[identifier] = said.or(containers[identifier])
        } else {
            for (identifier, container) in containers { containers[identifier] = said.or(container) }
            if said.server != nil { everyOther = said }
        }
    }

    /// Returns the folder of the machine user's configuration: `$XDG_CONFIG_HOME/yap`.
    package static func folder(_ environment: [String: String]) -> String {
        folder("XDG_CONFIG_HOME", ".config", environment) + "/yap"
    }

    /// Returns the cache of fetched files: `$XDG_CACHE_HOME/yap/assets`.
    static func cacheFolder(_ environment: [String: String]) -> URL {
        URL(
            fileURLWithPath: folder("XDG_CACHE_HOME", ".cache", environment) + "/yap/assets",
            isDirectory: true)
    }

    /// Returns the folder of long-lived operations: one for each container of each server, in
    /// `$XDG_STATE_HOME/yap/operations`.
    static func operationsFolder(
        _ environment: [String: String], _ identifier: String, _ serverURL: String, _ cloudEnvironment: String
    ) -> URL {
        let hash = (try? SHA256.hash("\(serverURL) \(cloudEnvironment)")) ?? []
        let name = "\(folderName(identifier))-\(Hex.text(Array(hash.prefix(8))))"
        return URL(
            fileURLWithPath: folder("XDG_STATE_HOME", ".local/state", environment)
                + "/yap/operations/\(name)",
            isDirectory: true)
    }

    /// Returns a container's identifier as the name of a folder. It can't lead out of its parent folder.
    static func folderName(_ identifier: String) -> String {
        let name = String(identifier.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        return name.hasPrefix(".") || name.isEmpty ? "_" + name : name
    }

    /// Returns the folder in `variable`, or `usual` in the user's home.
    private static func folder(
        _ variable: String, _ usual: String, _ environment: [String: String]
    ) -> String {
        // The XDG specification ignores paths that aren't absolute.
        if let folder = environment[variable], folder.hasPrefix("/") { return folder }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
        return home + "/" + usual
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }

    private mutating func read(_ path: String) {
        guard let data = FileManager.default.contents(atPath: path), data.count <= Self.fileBytesMax else {
            mistake = "\(path) can't be read, or has more than \(Self.fileBytesMax) bytes."
            return
        }
        let bytes = [UInt8](data)
        do {
            let document = try ConfigurationDocument(json: bytes)
            defaultContainer = document.defaultContainer
            let folder = (path as NSString).deletingLastPathComponent
            for (identifier, container) in document.containers {
                containers[identifier] = Container(container, folder: folder)
            }
        } catch {
            mistake = "\(path):\(error.line(in: bytes)): \(error.reason)"
        }
    }
}

extension CloudConfiguration.Container {
    /// The settings of a file in `folder`. Relative paths begin there.
    fileprivate init(_ container: ConfigurationDocument.Container, folder: String) {
        func path(_ text: String?) -> String? {
            text.map { $0.hasPrefix("/") ? $0 : folder + "/" + $0 }
        }
        self.init()
        server = container.server
        environment = container.environment
        apiToken = container.apiToken
        credentialFile = path(container.credentialFile)
        deviceID = container.deviceID
        authoritiesFile = path(container.authoritiesFile)
        keyID = container.keyID
        keyFile = path(container.keyFile)
        serverKind = container.serverProtocol
    }

    /// These settings, completed from `other`.
    fileprivate func or(_ other: Self?) -> Self {
        var merged = self
        merged.server = server ?? other?.server
        merged.environment = environment ?? other?.environment
        merged.apiToken = apiToken ?? other?.apiToken
        merged.webAuthToken = webAuthToken ?? other?.webAuthToken
        merged.credentialFile = credentialFile ?? other?.credentialFile
        merged.deviceID = deviceID ?? other?.deviceID
        merged.authoritiesFile = authoritiesFile ?? other?.authoritiesFile
        merged.keyID = keyID ?? other?.keyID
        merged.keyFile = keyFile ?? other?.keyFile
        merged.serverKind = serverKind ?? other?.serverKind
        return merged
    }
}
