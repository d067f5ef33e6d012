/// A whole request.
public struct HTTPRequest: Sendable {
    /// Everything but the body.
    public var head: HTTPRequestHead
    /// The body; empty when it went to a sink.
    public var body: [UInt8]
    /// The sink that took the body, when the handler asked for one.
    public var sink: (any HTTPBodySink)?

    /// Makes a request, for tests of a handler.
    public init(head: HTTPRequestHead, body: [UInt8] = [], sink: (any HTTPBodySink)? = nil) {
        self.head = head
        self.body = body
        self.sink = sink
    }
}

/// What the handler wants done with a request's body, told when only the head is known.
public enum HTTPBodyPlan: Sendable {
    /// Keep the bytes and hand them over whole; a longer body is answered with 413.
    case collect(bytesMax: Int)
    /// Give the bytes to a sink as they come. `handle` is called after the last one, with an empty body.
    case stream(to: any HTTPBodySink)
    /// Answer at once, without reading the body; the connection is closed after it.
    case refuse(HTTPResponse)
}

/// Takes a request's body piece by piece.
public protocol HTTPBodySink: Sendable {
    /// Takes the next bytes, on a loop: must not block. After `.pause` nothing more is read from the client until
    /// `flow.resume()`, which may be called from any thread (also before this returns).
    func receive(_ bytes: [UInt8], _ flow: HTTPBodyFlow) -> HTTPBodyDemand
    /// The body will not be completed: the client left, broke the rules or was too slow. On a loop.
    func cancelled()
}

/// True if a sink wants more bytes now.
public enum HTTPBodyDemand: Sendable {
    /// Read on.
    case more
    /// Read nothing until `HTTPBodyFlow.resume()`.
    case pause
}
