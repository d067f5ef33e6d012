import CLinux
import Glibc
import Seams

/// A strict HTTP/1.1 server: epoll loops that call a handler.
public final class HTTPServer: Sendable {
    private let options: HTTPServerOptions
    private let handler: any HTTPHandler

    /// Makes a server that does not listen yet.
    public init(options: HTTPServerOptions, handler: any HTTPHandler) {
        self.options = options
        self.handler = handler
    }

    /// Listens and serves on threads of its own; returns when connections are accepted.
    ///
    /// - Throws: `HTTPServerError` when the port is taken, a file of TLS is wrong or the system refuses.
    public func start() throws {
        throw HTTPServerError(code: .system, message: "the loops are not built in yet")
    }

    /// The port that is listened on; 0 before `start`.
    public var port: Int { 0 }

    /// How many connections are open.
    public var connectionCount: Int { 0 }

    /// Stops accepting, answers the requests in flight with `Connection: close`, closes idle connections, and after
    /// the grace cuts the rest. Returns when every thread has ended and every descriptor is closed. It blocks, so it
    /// must not be called on a loop (in a handler).
    public func stop(graceMilliseconds: Int) {}
}
