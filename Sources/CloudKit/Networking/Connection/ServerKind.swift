/// The kind of server.
package enum ServerKind: String, Sendable, CaseIterable {
    /// Our server: it understands our extra keys, and the idempotency keys of writes.
    case yap
    /// Apple's server: it gets no key of ours, a request has up to 200 items, and a user's token is valid for one
    /// request.
    case apple

    /// The host of Apple's servers.
    static let applesHost = "api.apple-cloudkit.com"

    /// The kind of the server at `serverURL`, if no configuration names it.
    init(serverURL: String) {
        let rest = serverURL.drop { $0 != ":" }.dropFirst(3)
        let host = rest.prefix { $0 != "/" && $0 != ":" }.lowercased()
        self = host == Self.applesHost ? .apple : .yap
    }
}
