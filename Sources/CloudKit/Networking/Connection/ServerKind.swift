/// Whose servers are asked.
package enum ServerKind: String, Sendable, CaseIterable {
    /// Ours: what Apple's web protocol has no key for travels beside it, and a write has a name.
    case yap
    /// Apple's: nothing of ours is sent, a request has 200 items at most, and a user's token is good for one request.
    case apple

    /// The host of Apple's servers.
    static let applesHost = "api.apple-cloudkit.com"

    /// What `serverURL` names, when nobody says it.
    init(serverURL: String) {
        let rest = serverURL.drop { $0 != ":" }.dropFirst(3)
        let host = rest.prefix { $0 != "/" && $0 != ":" }.lowercased()
        self = host == Self.applesHost ? .apple : .yap
    }
}
