/// A whole request.
public struct HTTPRequest: Sendable {
    /// The request without its body.
    public var head: HTTPRequestHead
    /// The body. Empty if a sink received it.
    public var body: [UInt8]
    /// The sink that received the body, if the handler chose one.
    public var sink: (any HTTPBodySink)?

    /// Makes a request, for tests of a handler.
    public init(head: HTTPRequestHead, body: [UInt8] = [], sink: (any HTTPBodySink)? = nil) {
        self.head = head
        self.body = body
        self.sink = sink
    }
}

/// How to handle the request body. Chosen by the handler after it has received the head.
public enum HTTPBodyPlan: Sendable {
    /// Collect the body up to this size. A longer body is answered with 413.
    case collect(bytesMax: Int)
    /// Pass the bytes to a sink as they arrive. `handle` is called after the last one, with an empty body.
    case stream(to: any HTTPBodySink)
    /// Respond without reading the body, and close the connection after it.
    case refuse(HTTPResponse)
}

/// A receiver of a request's body, in pieces.
public protocol HTTPBodySink: Sendable {
    /// Receives the next bytes. Called on an event loop, so it must not block. After `.pause` nothing is read from the
    /// client until `flow.resume()`, which may be called from any thread, also before this returns.
    func receive(_ bytes: [UInt8], _ flow: HTTPBodyFlow) -> HTTPBodyDemand
    /// Called on an event loop if the body won't be completed: after a disconnect, an error or for a slow client.
    func cancelled()
}

/// True if a sink wants more bytes now.
public enum HTTPBodyDemand: Sendable {
    /// Read more.
    case more
    /// Read nothing until `HTTPBodyFlow.resume()`.
    case pause
}
