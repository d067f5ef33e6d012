/// The body of `POST /yap/1/sign-in`: an account's name and password for a web auth token. Apple has no such
/// request; there the token comes from a web page.
///
/// Public because `SignInChecker` of `CloudServer`, which an app may implement, gets it.
public struct SignInRequest: Hashable, Sendable {
    /// The account's name.
    public var account: String
    /// The account's password.
    public var password: String
    /// The container's identifier.
    public var container: String
    /// `development` or `production`.
    public var environment: String
    /// The app's token, where the server asks for one.
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

/// The response to `SignInRequest`: what the device sends as `ckWebAuthToken` from now on.
package struct SignInResponse: Hashable, Sendable {
    /// The secret that names the user in each request.
    package var webAuthToken: String
    /// The user's record name in the container.
    package var userRecordName: String
    /// When the token expires, in milliseconds since 1970.
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

extension SignInRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(account: "", password: "", container: "")
        var account: String?
        var password: String?
        var container: String?
        for member in try node.members() {
            switch member.key {
            case "account": account = try member.value.string()
            case "password": password = try member.value.string()
            case "container": container = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "environment": environment = try member.value.string()
            case "apiToken": apiToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.account = try node.required(account, "account")
        self.password = try node.required(password, "password")
        self.container = try node.required(container, "container")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("account", account)
            writer.member("password", password)
            writer.member("container", container)
            writer.member("environment", environment)
            writer.member("apiToken", apiToken)
            writer.members(unknown)
        }
    }
}

extension SignInResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(webAuthToken: "", userRecordName: "", expiresAtMilliseconds: 0)
        var webAuthToken: String?
        var userRecordName: String?
        var expiresAtMilliseconds: Int64?
        for member in try node.members() {
            switch member.key {
            case "webAuthToken": webAuthToken = try member.value.string()
            case "userRecordName": userRecordName = try member.value.string()
            case "expiresAtMilliseconds": expiresAtMilliseconds = try member.value.int64()
            default: try unknown.keep(member)
            }
        }
        self.webAuthToken = try node.required(webAuthToken, "webAuthToken")
        self.userRecordName = try node.required(userRecordName, "userRecordName")
        self.expiresAtMilliseconds = try node.required(expiresAtMilliseconds, "expiresAtMilliseconds")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("webAuthToken", webAuthToken)
            writer.member("userRecordName", userRecordName)
            writer.member("expiresAtMilliseconds", expiresAtMilliseconds)
            writer.members(unknown)
        }
    }
}
