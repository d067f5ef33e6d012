/// The file `cloudkit.json`: the address and the credentials of each container's server.
package struct ConfigurationDocument: Hashable, Sendable {
    /// The configuration of one container.
    package struct Container: Hashable, Sendable {
        /// The server's address, beginning with `http://` or `https://`.
        package var server: String?
        /// `development` or `production`.
        package var environment: String?
        /// The app's token, if the server requires one.
        package var apiToken: String?
        /// Path of the file with the user's token.
        package var credentialFile: String?
        /// Name of this device for the server.
        package var deviceID: String?
        /// Path of a file with the certificates of the authorities that are trusted for this server.
        package var authoritiesFile: String?
        /// ID of the key that signs requests of a server program, which has no user.
        package var keyID: String?
        /// Path of the file with that key.
        package var keyFile: String?
        /// The protocol of the server: `yap` or `apple`.
        package var serverProtocol: String?

        /// Makes an empty configuration.
        package init() {}
    }

    /// Identifier of `CKContainer.default()`.
    package var defaultContainer: String?
    /// The containers by their identifiers.
    package var containers: [String: Container] = [:]

    /// Makes an empty document.
    package init() {}
}

// People write this file, so an unknown key is reported as a mistake.
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
