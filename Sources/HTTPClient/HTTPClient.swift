public import System

/// What an `HTTPClient` keeps to.
public struct HTTPClientOptions: Sendable {
    /// Requests under way at one time, each on a connection of its own. More wait.
    public var transfersMax = 64
    /// Requests that wait for a place. More are refused.
    public var waitingMax = 1_024
    /// Connections kept open for the next request.
    public var idleConnectionsMax = 32
    /// Seconds after which an unused connection isn't used again.
    public var idleSecondsMax = 50
    /// Bytes that an answer's headers may have together.
    public var responseHeaderBytesMax = 64 << 10
    /// A file with the certificates of the authorities to trust; nil trusts the machine's.
    public var authoritiesFile: String?
    /// Measures how long requests wait.
    public var clock: any MonotonicSource = SystemMonotonicSource()

    /// Makes the default options.
    public init() {}
}

/// Sends HTTP/1.1 requests from one thread of its own, and keeps connections for the next.
///
/// It follows no redirect, reads no proxy from the environment, keeps no cookie, checks the server's
/// certificate, and never sends a request's body twice.
public final class HTTPClient: Sendable {
    private let loop: CurlLoop

    /// Makes a client. Its thread begins with the first request.
    public init(options: HTTPClientOptions = HTTPClientOptions()) {
        loop = CurlLoop(options: options)
    }

    deinit {
        loop.stop()
    }

    /// Sends `request`, and calls `completion` once with the answer, of whatever status, or with why there is none.
    ///
    /// It is called on the client's thread, which does nothing else meanwhile: it must not block. When the request
    /// is refused at once (it can't be sent, too many wait, the client was stopped), it is called before `send`
    /// returns.
    @discardableResult
    public func send(
        _ request: HTTPClientRequest,
        completion: @escaping @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void
    ) -> HTTPTransfer {
        HTTPTransfer(id: loop.start(request, completion), loop: loop)
    }

    /// Ends what is under way with `stopped`, and the thread. Returns when it has ended, and all completions have
    /// been called; called in a completion it returns at once.
    public func stop() {
        loop.stop()
    }
}

/// A request that was sent.
public struct HTTPTransfer: Sendable {
    /// nil when the request was refused at once.
    let id: UInt64?
    let loop: CurlLoop

    /// Ends the request with `cancelled`, unless it has ended already.
    public func cancel() {
        if let id { loop.cancel(id) }
    }
}
