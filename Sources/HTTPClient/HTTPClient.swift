public import System

/// Options and limits of an `HTTPClient`.
public struct HTTPClientOptions: Sendable {
    /// Maximum number of running requests, each on its own connection. Further requests are queued.
    public var transfersMax = 64
    /// Maximum number of queued requests. Further requests are rejected.
    public var waitingMax = 1_024
    /// Maximum connections kept open for later requests.
    public var idleConnectionsMax = 32
    /// Seconds after which an idle connection isn't reused.
    public var idleSecondsMax = 50
    /// Maximum total bytes of a response's headers.
    public var responseHeaderBytesMax = 64 << 10
    /// File with the certificates of trusted authorities. Nil trusts the machine's.
    public var authoritiesFile: String?
    /// Clock for the waiting times of requests.
    public var clock: any MonotonicSource = SystemMonotonicSource()

    /// Creates the default options.
    public init() {}
}

/// Sends HTTP/1.1 requests on its own thread, and keeps connections open for later requests.
///
/// It doesn't follow redirects, doesn't read a proxy from the environment, stores no cookies, checks the
/// server's certificate, and never sends a request's body twice.
public final class HTTPClient: Sendable {
    private let loop: CurlLoop

    /// Creates a client. Its thread starts with the first request.
    public init(options: HTTPClientOptions = HTTPClientOptions()) {
        loop = CurlLoop(options: options)
    }

    deinit {
        loop.stop()
    }

    /// Sends `request`, and calls `completion` once with the response, of any status, or with the error.
    ///
    /// It is called on the client's thread, which does nothing else meanwhile, so it must not block. If the request
    /// is rejected (it is invalid, too many are queued, the client was stopped), it is called before `send` returns.
    @discardableResult
    public func send(
        _ request: HTTPClientRequest,
        completion: @escaping @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void
    ) -> HTTPTransfer {
        HTTPTransfer(id: loop.start(request, completion), loop: loop)
    }

    /// Ends all requests with `stopped`, and the thread. Returns when it has ended, and all completions have been
    /// called. Inside a completion it returns at once.
    public func stop() {
        loop.stop()
    }
}

/// A sent request.
public struct HTTPTransfer: Sendable {
    /// Nil if the request was rejected.
    let id: UInt64?
    let loop: CurlLoop

    /// Ends the request with `cancelled`, unless it has ended already.
    public func cancel() {
        if let id { loop.cancel(id) }
    }
}
