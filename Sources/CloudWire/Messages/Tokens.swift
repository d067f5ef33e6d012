/// Which of Apple's two push services a device token is of; the raw value is Apple's name.
package enum PushEnvironment: String, Hashable, CaseIterable, Sendable {
    /// For apps under development.
    case development
    /// For apps that users have.
    case production
}

/// The body of `tokens/create`: makes a device token for a client that has none.
package struct TokensCreateRequest: Hashable, Sendable {
    /// Which push service.
    package var apnsEnvironment: PushEnvironment
    /// The device; its own writes are not told to it.
    package var clientID: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(apnsEnvironment: PushEnvironment, clientID: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.clientID = clientID
    }
}

/// The body of `tokens/register`: a device token that exists shall hear of this user's changes.
package struct TokensRegisterRequest: Hashable, Sendable {
    /// Which push service.
    package var apnsEnvironment: PushEnvironment
    /// The device token.
    package var apnsToken: String
    /// The device; its own writes are not told to it.
    package var clientID: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(apnsEnvironment: PushEnvironment, apnsToken: String, clientID: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.clientID = clientID
    }
}

/// The response of `tokens/create` and `tokens/register`.
package struct TokensResponse: Hashable, Sendable {
    /// Which push service.
    package var apnsEnvironment: PushEnvironment
    /// The device token.
    package var apnsToken: String
    /// Where the device waits for its notifications: a GET that is held open until there is one.
    package var webcourierURL: String
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(apnsEnvironment: PushEnvironment, apnsToken: String, webcourierURL: String) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.webcourierURL = webcourierURL
    }
}

extension TokensCreateRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(apnsEnvironment: .development)
        var apnsEnvironment: PushEnvironment?
        for member in try node.members() {
            switch member.key {
            case "apnsEnvironment": apnsEnvironment = try member.value.choice("apnsEnvironment")
            case _ where member.value.isNull: try unknown.keep(member)
            case "clientId": clientID = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.apnsEnvironment = try node.required(apnsEnvironment, "apnsEnvironment")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("apnsEnvironment", apnsEnvironment.rawValue)
            writer.member("clientId", clientID)
            writer.members(unknown)
        }
    }
}

extension TokensRegisterRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(apnsEnvironment: .development, apnsToken: "")
        var apnsEnvironment: PushEnvironment?
        var apnsToken: String?
        for member in try node.members() {
            switch member.key {
            case "apnsEnvironment": apnsEnvironment = try member.value.choice("apnsEnvironment")
            case "apnsToken": apnsToken = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "clientId": clientID = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.apnsEnvironment = try node.required(apnsEnvironment, "apnsEnvironment")
        self.apnsToken = try node.required(apnsToken, "apnsToken")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("apnsEnvironment", apnsEnvironment.rawValue)
            writer.member("apnsToken", apnsToken)
            writer.member("clientId", clientID)
            writer.members(unknown)
        }
    }
}

extension TokensResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(apnsEnvironment: .development, apnsToken: "", webcourierURL: "")
        var apnsEnvironment: PushEnvironment?
        var apnsToken: String?
        var webcourierURL: String?
        for member in try node.members() {
            switch member.key {
            case "apnsEnvironment": apnsEnvironment = try member.value.choice("apnsEnvironment")
            case "apnsToken": apnsToken = try member.value.string()
            case "webcourierURL": webcourierURL = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.apnsEnvironment = try node.required(apnsEnvironment, "apnsEnvironment")
        self.apnsToken = try node.required(apnsToken, "apnsToken")
        self.webcourierURL = try node.required(webcourierURL, "webcourierURL")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("apnsEnvironment", apnsEnvironment.rawValue)
            writer.member("apnsToken", apnsToken)
            writer.member("webcourierURL", webcourierURL)
            writer.members(unknown)
        }
    }
}
