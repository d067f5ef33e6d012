/// The file `cloudkit.json`: where each container's cloud is.
package struct ConfigurationDocument: Hashable, Sendable {
    /// Where one container's cloud is.
    package struct Container: Hashable, Sendable {
        /// The server's address, beginning with `http://` or `https://`.
        package var server: String?
        /// `development` or `production`.
        package var environment: String?
        /// The app's token, if the server requires one.
        package var apiToken: String?
        /// Where the user's token is kept.
        package var credentialFile: String?
        /// What names this device to the server.
        package var deviceID: String?
        /// A file with the certificates of the authorities that the server's is checked by.
        package var authoritiesFile: String?
        /// The name of the key by which a server asks, in the place of a user.
        package var keyID: String?
        /// The file with that key.
        package var keyFile: String?
        /// The protocol of the server: `yap` or `apple`.
        package var serverProtocol: String?

        /// Says nothing yet.
        package init() {}
    }

    /// The container of `CKContainer.default()`.
    package var defaultContainer: String?
    /// The containers by their identifiers.
    package var containers: [String: Container] = [:]

    /// Says nothing yet.
    package init() {}
}

// A person writes the file, so a key that isn't known is a mistake and not a newer version's.
extension ConfigurationDocument: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case "defaultContainer": defaultContainer = try member.value.string()
            case "containers":
                for container in try member.value.members() {
                    containers[container.key.string] = try Container(reading: container.value)
                }
            default: throw member.unknownKey("defaultContainer, containers")
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("defaultContainer", defaultContainer)
            writer.key("containers")
            writer.object { writer in
                for (identifier, container) in containers.sorted(by: { $0.key < $1.key }) {
                    writer.key(identifier)
                    container.write(to: &writer)
                }
            }
        }
    }
}

extension ConfigurationDocument.Container: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case "server": server = try member.value.string()
            case "environment": environment = try member.value.string()
            case "apiToken": apiToken = try member.value.string()
            case "credentialFile": credentialFile = try member.value.string()
            case "deviceID": deviceID = try member.value.string()
            case "authoritiesFile": authoritiesFile = try member.value.string()
            case "keyID": keyID = try member.value.string()
            case "keyFile": keyFile = try member.value.string()
            case "protocol": serverProtocol = try member.value.string()
            default:
                throw member.unknownKey(
                    """
                    server, environment, apiToken, credentialFile, deviceID, authoritiesFile, keyID, keyFile, protocol
                    """)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("server", server)
            writer.member("environment", environment)
            writer.member("apiToken", apiToken)
            writer.member("credentialFile", credentialFile)
            writer.member("deviceID", deviceID)
            writer.member("authoritiesFile", authoritiesFile)
            writer.member("keyID", keyID)
            writer.member("keyFile", keyFile)
            writer.member("protocol", serverProtocol)
        }
    }
}

extension JSONNode.Member {
    fileprivate func unknownKey(_ known: String) -> JSONError {
        value.unexpected("the key '\(key.string)' isn't one of \(known)")
    }
}
