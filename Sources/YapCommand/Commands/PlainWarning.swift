import CloudServer
import HTTPServer

/// A warning about listening on other than loopback addresses without TLS.
enum PlainWarning {
    /// Returns the line to print, or nil if the server listens on loopback only or uses TLS.
    static func text(for options: CloudServerOptions) -> String? {
        let host = options.http.host
        guard options.http.tls == nil, !options.listensOnLoopback else { return nil }
        return
            "warning: \(host) is reached from other machines, and the server speaks plain http: others on the network "
            + "can read passwords, tokens and records. Give --tls-certificate and --tls-key, or listen on 127.0.0.1 "
            + "behind a proxy that speaks TLS."
    }
}
