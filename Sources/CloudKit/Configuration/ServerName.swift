import Foundation

/// Names of a server on this machine.
enum ServerName {
    /// `url` with one name for this machine, for comparisons: `localhost`, `127.0.0.1` and `[::1]` are the same server.
    static func oneLoopback(_ url: String) -> String {
        guard let start = url.range(of: "://")?.upperBound else { return url }
        let rest = url[start...]
        for name in ["localhost", "127.0.0.1", "[::1]"] where rest.lowercased().hasPrefix(name) {
            let end = rest.dropFirst(name.count)
            guard end.isEmpty || end.first == ":" || end.first == "/" else { continue }
            return url[..<start] + "localhost" + end
        }
        return url
    }
}
