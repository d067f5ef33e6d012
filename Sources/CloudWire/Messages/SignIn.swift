/// The body of `POST /yap/1/sign-in`: exchanges an account's name and password for a web auth token. Apple's
/// protocol doesn't have this request; there, a web page returns the token.
///
/// Public because `SignInChecker` of `CloudServer`, which an app may implement, receives it.
public struct SignInRequest: Hashable, Sendable {
    /// The account's name.
    public var account: String
    /// The account's password.
    public var password: String
    /// The container's identifier.
    public var container: String
    /// `development` or `production`.
    public var environment: String
    /// The app's token, if the server requires one.
    public var apiToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(
        account: String, password: String, container: String, environment: String = "development",
        apiToken: String? = nil
    ) {
        self.account = account
        self.password = password
        self.container = container
        self.environment = environment
        self.apiToken = apiToken
    }
}

/// The response to `SignInRequest`. The device sends the token as `ckWebAuthToken` from now on.
package struct SignInResponse: Hashable, Sendable {
    /// Secret that authenticates the user in each request.
    package var webAuthToken: String
    /// The user's record name in the container.
    package var userRecordName: String
    /// Time at which the token expires, in milliseconds since 1970.
    package var expiresAtMilliseconds: Int64
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(webAuthToken: String, userRecordName: String, expiresAtMilliseconds: Int64) {
        self.webAuthToken = webAuthToken
        self.userRecordName = userRecordName
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

extension SignInRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(account: "", password: "", container: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("account", &account)
        members.required("password", &password)
        members.required("container", &container)
        members.optional("environment", orDefault: &environment)
        members.optional("apiToken", &apiToken)
    }
}

extension SignInResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(webAuthToken: "", userRecordName: "", expiresAtMilliseconds: 0) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("webAuthToken", &webAuthToken)
        members.required("userRecordName", &userRecordName)
        members.required("expiresAtMilliseconds", &expiresAtMilliseconds)
    }
}
