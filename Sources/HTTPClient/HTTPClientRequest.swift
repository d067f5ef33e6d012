/// A request that `HTTPClient` sends.
public struct HTTPClientRequest: Sendable {
    /// `GET`, `POST` or the name of another method.
    public var method: String
    /// The whole address with its query, percent-encoded, beginning with `http://` or `https://`.
    public var url: String
    /// The headers in order. The client adds the headers that HTTP requires (`Host`, `Content-Length`).
    public var headers: [(name: String, value: String)]
    /// The body, if `upload` is nil.
    public var body: [UInt8]
    /// Provides the body in pieces instead.
    public var upload: (any HTTPUpload)?
    /// Receives the body of a successful response in pieces, so that the response's body is empty.
    public var download: (any HTTPDownload)?
    /// Maximum seconds until the connection is established, including TLS.
    public var connectTimeoutSeconds: Double
    /// Maximum seconds for the whole request: the queue, the connection, the request and the response. 0 for no
    /// limit.
    public var timeoutSeconds: Double
    /// Maximum seconds without any transfer, including the queue; then the request is ended. 0 for no limit.
    public var silenceSeconds = 0.0
    /// Maximum bytes of the response's body.
    public var responseBytesMax: Int

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], connectTimeoutSeconds: Double = 15, timeoutSeconds: Double = 60,
        responseBytesMax: Int = 64 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.connectTimeoutSeconds = connectTimeoutSeconds
        self.timeoutSeconds = timeoutSeconds
        self.responseBytesMax = responseBytesMax
    }

    /// The reason that the request is invalid, or nil if it is valid.
    var problem: String? {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            return "the address has to begin with http:// or https://"
        }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "the address holds a byte that has to be percent-encoded"
        }
        guard method.isHTTPToken else { return "the method isn't an HTTP token" }
        for (name, value) in headers {
            guard name.isHTTPToken else { return "a header's name isn't an HTTP token" }
            // A line break inside a value would begin another header.
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the value of the header \(name) holds a control character"
            }
        }
        return nil
    }
}

/// A response of any status.
public struct HTTPClientResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The headers in order.
    public var headers: [(name: String, value: String)]
    /// The body. Empty if the request had a `download` that received it.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first header with that name, ignoring case.
    public func header(_ name: String) -> String? {
        let lowercased = name.lowercased()
        return headers.first { $0.name.lowercased() == lowercased }?.value
    }

    /// Responses of common servers (nginx, Apache, Go) to plain HTTP on a TLS port.
    private static let wordsForTLS = [
        "plain HTTP request was sent to HTTPS port", "speaking plain HTTP to an SSL-enabled server port",
        "HTTP request to an HTTPS server",
    ]

    /// True if the server requires TLS on this port. Detected by the status that this package's server uses
    /// for it, or by a known message.
    var asksForTLS: Bool {
        if status == 426 { return true }
        guard status == 400 else { return false }
        let text = String(decoding: body.prefix(1_024), as: UTF8.self)
        return Self.wordsForTLS.contains { text.contains($0) }
    }
}

/// A request's body that isn't in memory. Called on the client's thread, which waits meanwhile.
public protocol HTTPUpload: Sendable {
    /// Number of bytes of the body.
    var byteCount: Int { get }
    /// Copies the next bytes to `buffer` and returns their number: 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Receives a response's body without holding it in memory. Called on the client's thread, which waits meanwhile.
public protocol HTTPDownload: Sendable {
    /// Begins a response with this status, from 200 to 299, and these headers. Called before the first bytes. The
    /// body of any other response is in the response itself.
    func begin(status: Int, headers: [(name: String, value: String)]) throws
    /// Receives the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension HTTPDownload {
    /// Accepts every successful response.
    public func begin(status: Int, headers: [(name: String, value: String)]) throws {}
}

extension String {
    fileprivate var isHTTPToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
