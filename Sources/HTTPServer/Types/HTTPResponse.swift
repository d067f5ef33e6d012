/// A response to a request.
///
/// The server itself writes `Content-Length`, `Transfer-Encoding`, `Date`, `Connection` and the request id; such
/// fields given here are left out, but `Connection: close` is obeyed.
public struct HTTPResponse: Sendable {
    /// The status code, 200...599.
    public var status: Int
    /// The header fields. One that holds a line break or a NUL makes the response a 500.
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
    /// All of it.
    case bytes([UInt8])
    /// A source that is pulled as the client reads.
    case stream(any HTTPBodySource)
}

/// Gives a response's body piece by piece.
public protocol HTTPBodySource: Sendable {
    /// How many bytes there will be; nil when that is not known, which sends them chunked.
    var byteCount: Int? { get }
    /// Asks for the next piece, at most `bytesMax` bytes, on a loop: must not block. Answer `pull` exactly once, from
    /// any thread; the next pull comes when the client has read most of it.
    func pull(bytesMax: Int, _ pull: HTTPBodyPull)
    /// No more will be asked: the client left or was too slow, or a HEAD wants no body. On a loop.
    func cancelled()
}
