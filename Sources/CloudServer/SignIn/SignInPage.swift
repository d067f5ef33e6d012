import CloudStore

/// What a sign-in page is for: the app that asks, and where the user's token goes.
public struct SignInPage: Hashable, Sendable {
    static let ticketItem = "ticket"
    /// How long a session lives after its last use, in milliseconds: 30 minutes.
    static let lifeMilliseconds: Int64 = 1_800_000
    /// The same when the user asked to be kept signed in: two weeks.
    static let longLifeMilliseconds: Int64 = 14 * 86_400_000

    /// The container's identifier.
    public let container: String
    /// `development` or `production`.
    public let environment: String
    /// The app's name.
    public let appName: String
    /// Where the page leads with the token; nil: it posts a message.
    public let callback: String?
    /// The origins that the message is sent to. Pages of other origins can't read it.
    public let origins: [String]

    /// What the control file says of it. The page that asked counts only when the app names its origin: any site can
    /// open this page with an app's token, which is no secret.
    init(_ page: ControlSignInPage) {
        container = page.container
        environment = page.environment
        appName = page.app.name
        callback = page.app.callback
        let named = page.app.origins ?? []
        origins = callback != nil || named.isEmpty ? [] : page.origin.map { [$0] } ?? named
    }

    /// True if a callback or an origin is named that may get the token. Without one, sign-in isn't possible.
    var hasReceiver: Bool { callback != nil || !origins.isEmpty }

    /// The token's receiver, to be shown to the user.
    var receiver: String {
        callback.map { ControlOrigins.origin(ofCallback: $0) } ?? origins.joined(separator: ", ")
    }

    /// The callback with a query item more, percent-encoded once.
    func callback(_ name: String, _ value: String) -> String? {
        callback.map {
            $0 + ($0.utf8.contains(0x3F) ? "&" : "?") + "\(name)=\(PercentEncoding.encoded(value))"
        }
    }
}

/// What a user typed into the page.
public struct SignInForm: Hashable, Sendable {
    /// What the page is for.
    public let page: SignInPage
    /// The account's name.
    public let account: String
    /// The account's password.
    public let password: String
    /// The user asked to be kept signed in.
    public let staysSignedIn: Bool
}
