import HTTPServer

/// Accounts that may use the environment `development`. A save there changes the schema, and so the next
/// deployment to production.
public enum DevelopmentAccess: String, CaseIterable, Hashable, Sendable {
    /// Everyone if only programs of this machine can reach the server, otherwise developers.
    case auto
    /// Every account.
    case everyone
    /// Accounts marked as developers, and server keys.
    case developers
}

/// The listeners on which the dashboard is served.
public enum DashboardAccess: String, CaseIterable, Hashable, Sendable {
    /// Served if only programs of this machine can reach the server, and otherwise once an administrator has
    /// a password.
    case auto
    /// Not served.
    case off
}

extension CloudServerOptions {
    /// True if every account may use `development`.
    public var isDevelopmentForEveryone: Bool {
        switch development {
        case .everyone: true
        case .developers: false
        // A proxy in front of the server is reachable by others.
        case .auto: listensOnLoopback && publicURL == nil && !trustsForwardedFor
        }
    }

    /// True if only programs of this machine can connect.
    package var listensOnLoopback: Bool {
        let host = http.host
        return ["localhost", "::1"].contains(host) || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.")
    }
}
