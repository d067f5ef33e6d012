/// A response to a request.
///
/// The server itself writes `Content-Length`, `Transfer-Encoding`, `Date`, `Connection` and the request id; such
/// fields are ignored in `headers`, except `Connection: close`.
public struct HTTPResponse: Sendable {
    /// The status code, 200...599.
    public var status: Int
    /// The header fields. A line break or NUL in one replaces the response by 500.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: HTTPResponseBody
    /// True if the request can be repeated. If too many responses are queued, such a response is replaced by 503. For
    /// any other the connection is closed, because 503 would mean that the request was not executed.
    public var mayBeAskedAgain = false
    /// Milliseconds by which the response is delayed, unless the client disconnects or the server stops. It slows down
    /// clients that ignore `Retry-After`.
    public var holdMilliseconds: Int64 = 0

    /// Makes a response.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], body: HTTPResponseBody = .bytes([])
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a body of this type.
    public init(status: Int, contentType: String, body: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", contentType)], body: .bytes(body))
    }
}

/// The body of a response.
public enum HTTPResponseBody: Sendable {
    /// The whole body.
    case bytes([UInt8])
    /// A source that is pulled as the client reads.
    case stream(any HTTPBodySource)
}

/// A source of a response's body, in pieces.
public protocol HTTPBodySource: Sendable {
    /// The total number of bytes, or nil if unknown. Then the body is sent chunked.
    var byteCount: Int? { get }
    /// Requests the next piece of up to `bytesMax` bytes. Called on an event loop, so it must not block. Answer `pull`
    /// exactly once, from any thread. The next pull follows when the client has read most of the piece.
    func pull(bytesMax: Int, _ pull: HTTPBodyPull)
    /// Called on an event loop if no further piece is needed: after a disconnect, for a slow client, and for HEAD.
    func cancelled()
}
