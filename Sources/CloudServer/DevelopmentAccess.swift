import HTTPServer

/// Which accounts may use the environment `development`: a write there changes what the schema knows, and so what is
/// offered for production.
public enum DevelopmentAccess: String, CaseIterable, Hashable, Sendable {
    /// Everyone where only programs of this machine reach the server, else developers.
    case auto
    /// Every account.
    case everyone
    /// The accounts that the operator calls developers, and servers' keys.
    case developers
}

/// Where the dashboard is served.
public enum DashboardAccess: String, CaseIterable, Hashable, Sendable {
    /// Where only programs of this machine reach the server; elsewhere once an administrator has a password.
    case auto
    /// Nowhere.
    case off
}

extension CloudServerOptions {
    /// True if every account may use `development`.
    public var isDevelopmentForEveryone: Bool {
        switch development {
        case .everyone: true
        case .developers: false
        // A proxy that stands in front is reached by others.
        case .auto: listensOnLoopback && publicURL == nil && !trustsForwardedFor
        }
    }

    /// True if only programs of this machine can connect.
    package var listensOnLoopback: Bool {
        let host = http.host
        return ["localhost", "::1"].contains(host) || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.")
    }
}
