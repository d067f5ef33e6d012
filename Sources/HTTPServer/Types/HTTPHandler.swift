/// What answers the requests. Its functions are called on the server's loops, so none of them may block.
public protocol HTTPHandler: Sendable {
    /// The address of the client behind a proxy that tells it, without a port; nil: the connection's.
    ///
    /// A request takes from this client's share of the server's limits.
    func clientAddress(of head: HTTPRequestHead) -> String?
    /// What to do with the body of the request with this head.
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan
    /// Answers a request through `exchange`, now or later, from any thread.
    ///
    /// The next request on the same connection is handled only after this one was answered.
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
    /// Called once for each request after its end, for the log.
    func finished(_ summary: HTTPExchangeSummary)
    /// The response that the server itself gives to a request which breaks a rule or a limit. The status is set by the
    /// server whatever this returns.
    func errorResponse(status: Int, reason: String) -> HTTPResponse
    /// The server is about to stop: parked requests should be answered now, and those that still come not be parked.
    /// Called once, on the thread that stops it.
    func stopping()
}

extension HTTPHandler {
    /// None: clients come by themselves.
    public func clientAddress(of head: HTTPRequestHead) -> String? { nil }

    /// Says nothing.
    public func finished(_ summary: HTTPExchangeSummary) {}

    /// The reason as plain text.
    public func errorResponse(status: Int, reason: String) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "text/plain; charset=utf-8", body: Array("\(reason)\n".utf8))
    }

    /// Does nothing.
    public func stopping() {}
}

/// How a request ended, for the log.
public struct HTTPExchangeSummary: Sendable {
    /// The ways in which an exchange ends.
    public enum Ending: String, Sendable {
        /// The handler's response was given to the kernel whole.
        case answered
        /// The server refused it: the request broke a rule or a limit.
        case refused
        /// The handler gave no response in time, or released the exchange without one.
        case unanswered
        /// The client closed the connection before it was answered, or while it was.
        case clientLeft
        /// The client sent or read too slowly and was cut.
        case tooSlow
        /// The server stopped before the response was out.
        case stopped
    }

    /// The id that the reply's header carried.
    public var requestID: String
    /// The client's address.
    public var peer: String
    /// The method, or an empty text when the head could not be read.
    public var method: String
    /// The decoded path, or an empty text when the head could not be read.
    public var path: String
    /// The status that was sent, or 0 when none was.
    public var status: Int
    /// Bytes of the request's body that arrived.
    public var bytesIn: Int
    /// Bytes of the response, head included, that the kernel took.
    public var bytesOut: Int
    /// From the head's last byte to the response's last.
    public var milliseconds: Int64
    /// How it ended.
    public var ending: Ending
    /// What the handler gave to `HTTPExchange.respond` with its answer.
    public var context: (any Sendable)?
}
