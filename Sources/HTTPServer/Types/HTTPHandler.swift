/// Handles requests. Its functions are called on the server's event loops, so they must not block.
public protocol HTTPHandler: Sendable {
    /// Returns the client's address without a port, as reported by a trusted proxy. Nil for the connection's address.
    ///
    /// The limits by client network apply to this address.
    func clientAddress(of head: HTTPRequestHead) -> String?
    /// Returns how to handle the request body. Called after the head was received.
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan
    /// Handles a request. The response is sent through `exchange`, at any time and from any thread.
    ///
    /// The next request of the connection is handled after this response.
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
    /// Called once after the end of each request, for the log.
    func finished(_ summary: HTTPExchangeSummary)
    /// Returns the server's own response to an invalid request, or one that exceeds a limit. The server sets the
    /// status, regardless of the returned one.
    func errorResponse(status: Int, reason: String) -> HTTPResponse
    /// Called once before the server stops, on the thread that stops it. Long polls should be answered now, and further
    /// ones at once.
    func stopping()
}

extension HTTPHandler {
    /// Returns nil: there is no proxy.
    public func clientAddress(of head: HTTPRequestHead) -> String? { nil }

    /// Does nothing.
    public func finished(_ summary: HTTPExchangeSummary) {}

    /// Returns the reason as plain text.
    public func errorResponse(status: Int, reason: String) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "text/plain; charset=utf-8", body: Array("\(reason)\n".utf8))
    }

    /// Does nothing.
    public func stopping() {}
}

/// Summary of a request after its end, for the log.
public struct HTTPExchangeSummary: Sendable {
    /// The ways in which an exchange ends.
    public enum Ending: String, Sendable {
        /// The kernel accepted the whole response.
        case answered
        /// The server rejected the request, because it broke a rule or a limit.
        case refused
        /// The handler gave no response in time, or released the exchange without one.
        case unanswered
        /// The client closed the connection before or during the response.
        case clientLeft
        /// The client sent or read too slowly.
        case tooSlow
        /// The server stopped before the response was sent.
        case stopped
    }

    /// The request ID in the response's header.
    public var requestID: String
    /// The client's address.
    public var peer: String
    /// The method, or empty if the head could not be parsed.
    public var method: String
    /// The decoded path, or empty if the head could not be parsed.
    public var path: String
    /// The status sent, or 0 if none was sent.
    public var status: Int
    /// Bytes of the request's body that arrived.
    public var bytesIn: Int
    /// Bytes of the response, including the head, that the kernel accepted.
    public var bytesOut: Int
    /// Milliseconds from the last byte of the head to the last byte of the response.
    public var milliseconds: Int64
    /// How it ended.
    public var ending: Ending
    /// The `context` that the handler passed to `HTTPExchange.respond`.
    public var context: (any Sendable)?
}
