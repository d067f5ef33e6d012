/// Who asks.
package struct Caller {
    /// As a proxy tells it.
    package var address: String
    /// Nil: nobody who is signed in.
    package var token: String?
    package var clientID = "abuse"
    /// Whether it says that it is a client of ours.
    package var isOurs = true
}

/// Requests as they go over the socket.
package struct Requests: Sendable {
    package static let container = "iCloud.com.example.abuse"
    package let apiToken: String

    /// A request of a database.
    package func database(
        _ action: String, _ body: some Sequence<UInt8>, from caller: Caller, in database: String = "private",
        operation: String? = nil
    ) -> [UInt8] {
        var target = "/database/1/\(Self.container)/development/\(database)/\(action)?ckAPIToken=\(apiToken)"
        if let token = caller.token { target += "&ckWebAuthToken=\(token)" }
        target += "&clientId=\(caller.clientID)"
        var fields = caller.isOurs ? "X-Yap-Client: 1\r\n" : ""
        if let operation { fields += "X-Yap-Operation: \(operation)\r\n" }
        return Self.whole("POST", target, fields, Array(body), from: caller)
    }

    package func database(
        _ action: String, _ body: String, from caller: Caller, in database: String = "private",
        operation: String? = nil
    ) -> [UInt8] {
        self.database(action, body.utf8, from: caller, in: database, operation: operation)
    }

    /// Any request.
    package static func whole(
        _ method: String, _ target: String, _ fields: String = "", _ body: [UInt8] = [], from caller: Caller
    ) -> [UInt8] {
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: \(caller.address)\r\n\(fields)"
            + (method == "GET" || method == "OPTIONS" ? "\r\n" : "Content-Length: \(body.count)\r\n\r\n")
        return Array(head.utf8) + body
    }
}
