/// A request that `HTTPClient` sends.
public struct HTTPClientRequest: Sendable {
    /// `GET`, `POST` or another method's name.
    public var method: String
    /// The whole address with its query, percent-encoded, beginning with `http://` or `https://`.
    public var url: String
    /// The headers in order. What HTTP itself needs (`Host`, `Content-Length`) is added.
    public var headers: [(name: String, value: String)]
    /// The body, when `upload` is nil.
    public var body: [UInt8]
    /// Gives the body piece by piece instead.
    public var upload: (any HTTPUpload)?
    /// Takes the body of an answer of success piece by piece, so that the response's is empty.
    public var download: (any HTTPDownload)?
    /// Seconds until the connection stands, TLS included.
    public var connectTimeoutSeconds: Double
    /// Seconds for the whole: the wait for a place, the connection, the request and the answer. 0 sets no end.
    public var timeoutSeconds: Double
    /// Seconds in which nothing comes and nothing goes, the wait for a place included; then the request is given up.
    /// 0 sets no end.
    public var silenceSeconds = 0.0
    /// Bytes that the answer's body may have.
    public var responseBytesMax: Int

    /// Makes a request.
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

    /// What makes the request one that can't be sent; nil when it can.
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
            // A line's end inside a value would begin a header of its own.
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the value of the header \(name) holds a control character"
            }
        }
        return nil
    }
}

/// An answer of whatever status.
public struct HTTPClientResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The headers in order.
    public var headers: [(name: String, value: String)]
    /// The body; empty when the request had a `download` that took it.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, whatever its case.
    public func header(_ name: String) -> String? {
        let lowercased = name.lowercased()
        return headers.first { $0.name.lowercased() == lowercased }?.value
    }

    /// What servers that we know (nginx, Apache, Go's) say on a port of TLS to who speaks plain HTTP.
    private static let wordsForTLS = [
        "plain HTTP request was sent to HTTPS port", "speaking plain HTTP to an SSL-enabled server port",
        "HTTP request to an HTTPS server",
    ]

    /// Whether the server says that its port speaks TLS: by the status for it, as ours does, or in its own words.
    var asksForTLS: Bool {
        if status == 426 { return true }
        guard status == 400 else { return false }
        let text = String(decoding: body.prefix(1_024), as: UTF8.self)
        return Self.wordsForTLS.contains { text.contains($0) }
    }
}

/// A request's body that isn't in memory. Called on the client's thread, which waits meanwhile.
public protocol HTTPUpload: Sendable {
    /// Bytes of the body.
    var byteCount: Int { get }
    /// Puts the next bytes into `buffer` and returns how many: 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Takes an answer's body without holding it in memory. Called on the client's thread, which waits meanwhile.
public protocol HTTPDownload: Sendable {
    /// An answer with this status, from 200 to 299, and these headers begins. Called before the first bytes. What
    /// another answer says is in the response.
    func begin(status: Int, headers: [(name: String, value: String)]) throws
    /// Takes the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension HTTPDownload {
    /// Takes every answer of success alike.
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
