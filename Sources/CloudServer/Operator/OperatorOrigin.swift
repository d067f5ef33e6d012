import CloudWire
import HTTPServer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Checks that a request may come from the dashboard's own page, or from a program that isn't a browser.
package struct OperatorOrigin {
    /// The server's public URL, if the operator configured it.
    let publicURL: String?

    package init(publicURL: String?) { self.publicURL = publicURL }

    /// Rejects requests that another site's page can send.
    ///
    /// Any domain name can resolve to this machine (DNS rebinding), so `Host` must be a known one. A numeric
    /// address can't be redirected.
    ///
    /// - Throws: a `WireError` with the remedy.
    package func check(_ head: HTTPRequestHead) throws(WireError) {
        guard let host = head.header("Host"), isKnown(host) else {
            throw Refusal.badRequest(
                "the dashboard is served at localhost, at addresses of digits, and at the name of --public-url"
            )
        }
        guard head.method == "POST" else { return }
        let type = head.header("Content-Type")?.split(separator: ";").first.map { $0.filter { $0 != " " } }
        guard type?.lowercased() == "application/json" else {
            throw Refusal.badRequest("a POST to the operator API needs Content-Type: application/json")
        }
        let site = head.header("Sec-Fetch-Site")
        let isForeign: Bool
        if let site {
            isForeign = site != "same-origin"
        } else if let origin = head.header(WireHeader.origin) {
            // Browsers omit Sec-Fetch-Site for pages loaded by plain http.
            isForeign = Self.hostAndPort(ofOrigin: origin) != host.lowercased()
        } else {
            isForeign = false
        }
        guard !isForeign else { throw Refusal.badRequest("a page of another site sent this request") }
    }

    private func isKnown(_ host: String) -> Bool {
        let name = Self.name(of: host)
        if name == "localhost" || name.hasSuffix(".localhost") || Self.isAddress(name) { return true }
        guard let publicURL, let known = Self.hostAndPort(ofOrigin: publicURL) else { return false }
        return name == Self.name(of: known)
    }

    /// `example.com:8080` of `https://example.com:8080/path`.
    private static func hostAndPort(ofOrigin origin: String) -> String? {
        guard let start = origin.firstRange(of: "://")?.upperBound else { return nil }
        return origin[start...].split(separator: "/", omittingEmptySubsequences: false).first?.lowercased()
    }

    /// Returns the host without its port and without the brackets of an IPv6 address.
    private static func name(of host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    private static func isAddress(_ name: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
    }
}
