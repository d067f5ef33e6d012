import CloudStore
import System

/// The purpose of a sign-in page: the app and the receiver of the user's token.
public struct SignInPage: Hashable, Sendable {
    static let ticketItem = "ticket"
    /// Milliseconds for which a session is valid after its last use: 30 minutes.
    static let lifeMilliseconds: Int64 = 1_800_000
    /// The same if the user chose to stay signed in: two weeks.
    static let longLifeMilliseconds: Int64 = 14 * 86_400_000

    /// The container's identifier.
    public let container: String
    /// `development` or `production`.
    public let environment: String
    /// The app's name.
    public let appName: String
    /// The URL that receives the token, or nil if the page posts a message.
    public let callback: String?
    /// The origins that the message is sent to. Pages of other origins can't read it.
    public let origins: [String]

    /// Reads it from the control file. The opening page receives the token only if the app names its origin: any site
    /// can open this page with an app's token, which isn't secret.
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

    /// The token's receiver, as shown to the user.
    var receiver: String {
        callback.map { ControlOrigins.origin(ofCallback: $0) } ?? origins.joined(separator: ", ")
    }

    /// Returns the callback with another query item, percent-encoded once.
    func callback(_ name: String, _ value: String) -> String? {
        callback.map {
            $0 + ($0.utf8.contains(0x3F) ? "&" : "?") + "\(name)=\(PercentEncoding.encoded(value))"
        }
    }
}

/// The values of the sign-in form.
public struct SignInForm: Hashable, Sendable {
    /// The page.
    public let page: SignInPage
    /// The account's name.
    public let account: String
    /// The account's password.
    public let password: String
    /// True if the user chose to stay signed in.
    public let staysSignedIn: Bool
}
