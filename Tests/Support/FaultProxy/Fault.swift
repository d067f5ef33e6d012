/// What the proxy does to one exchange, a request and its reply.
package enum Fault: Sendable, Equatable {
    /// Nothing: the request goes to the server, the reply to the client.
    case pass
    /// The client's connection is closed, and the server never hears of the request.
    case loseRequest
    /// The server gets this many bytes of the request, then both connections are closed.
    case cutRequest(afterBytes: Int)
    /// The server gets the request twice, one after the other; the client gets the first reply.
    case duplicateRequest
    /// The server gets the request this much later; requests on other connections overtake it.
    case delayRequest(milliseconds: Int)
    /// The reply waits in the proxy for `release` or `drop` with the exchange's number.
    case withholdReply
    /// The server does it and replies; the client's connection is closed without a byte of the reply.
    case dropReply
    /// The client gets this many bytes of the reply, then its connection is closed.
    case cutReply(afterBytes: Int)
}

/// A request that the proxy has read whole.
package struct ProxyExchange: Sendable {
    /// Its place among all exchanges, from 1, in the order in which the requests were complete.
    package let number: Int
    /// Its place among the exchanges with this path, from 1.
    package let pathNumber: Int
    /// The request's method.
    package let method: String
    /// The request's path, as it was sent, without the query.
    package let path: String
    /// The request's query, as it was sent, without the question mark; empty when there is none.
    package let query: String
    /// The request's headers in their order, the names in lower case.
    package let headers: [(name: String, value: String)]
    /// The request's body; in a chunked request with the chunks' lengths.
    package let body: [UInt8]
}

/// A moment of an exchange. The connection waits while the handler runs.
package enum ProxyEvent: Sendable {
    /// The request is in the proxy; the server has not heard of it.
    case requestArrived(ProxyExchange, Fault)
    /// The server has replied; the client has not heard of it. (With `duplicateRequest`: to both requests.)
    case replyArrived(ProxyExchange, Fault, status: Int)
    /// The server's connection was closed or refused before a whole reply was there.
    case serverGone(ProxyExchange, Fault)
    /// The exchange is over, as its fault wanted it.
    case ended(ProxyExchange, Fault)
}

/// What the proxy did, each counted when it was done and not when it was planned.
package struct ProxyCounts: Sendable, Equatable {
    package init() {}

    package var connections = 0
    package var exchanges = 0
    package var passed = 0
    package var requestsLost = 0
    package var requestsCut = 0
    package var requestsDuplicated = 0
    package var requestsDelayed = 0
    /// Replies that were withheld, whatever became of them.
    package var repliesWithheld = 0
    package var repliesDropped = 0
    package var repliesCut = 0
    /// Exchanges in which the server refused the connection, or closed it before a whole reply was there.
    package var serverGone = 0
    /// Exchanges that ended because the client closed its connection first.
    package var clientGone = 0
}
