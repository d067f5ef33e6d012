/// The push service of a device token, one of Apple's two. The raw value is Apple's name.
package enum PushEnvironment: String, Hashable, CaseIterable, Sendable {
    /// For apps under development.
    case development
    /// For apps that users have.
    case production
}

/// The body of `tokens/create`: makes a device token for a client that has none.
package struct TokensCreateRequest: Hashable, Sendable {
    /// The push service.
    package var apnsEnvironment: PushEnvironment
    /// The device, which isn't notified of its own writes.
    package var clientID: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(apnsEnvironment: PushEnvironment, clientID: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.clientID = clientID
    }
}

/// The body of `tokens/register`: registers an existing device token for this user's changes.
package struct TokensRegisterRequest: Hashable, Sendable {
    /// The push service.
    package var apnsEnvironment: PushEnvironment
    /// The device token.
    package var apnsToken: String
    /// The device, which isn't notified of its own writes.
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
    /// The push service.
    package var apnsEnvironment: PushEnvironment
    /// The device token.
    package var apnsToken: String
    /// URL of a GET request that the server holds until the device has a notification.
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

extension TokensCreateRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(apnsEnvironment: .development) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("apnsEnvironment", choice: &apnsEnvironment)
        members.optional("clientId", &clientID)
    }
}

extension TokensRegisterRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(apnsEnvironment: .development, apnsToken: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("apnsEnvironment", choice: &apnsEnvironment)
        members.required("apnsToken", &apnsToken)
        members.optional("clientId", &clientID)
    }
}

extension TokensResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(apnsEnvironment: .development, apnsToken: "", webcourierURL: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("apnsEnvironment", choice: &apnsEnvironment)
        members.required("apnsToken", &apnsToken)
        members.required("webcourierURL", &webcourierURL)
    }
}
