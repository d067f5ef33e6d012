import CLinux
import Glibc
import System

/// Address and limits of a server. Each limit has its unit in its name.
public struct HTTPServerOptions: Sendable {
    /// The address to listen on: an IPv4 or IPv6 address, or `localhost`.
    public var host = "127.0.0.1"
    /// The port, or 0 for any free one.
    public var port = 0
    /// Number of event loops, each with its own thread and listening socket.
    public var loopCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// Options of TLS, or nil to serve plain HTTP.
    public var tls: HTTPServerTLSOptions?
    /// The response header field with the request's ID.
    public var requestIDHeader = "X-Request-ID"

    /// Maximum bytes of the request target. A longer one is answered with 414.
    public var targetBytesMax = 8 * 1024
    /// Maximum bytes of the request line and header fields. More are answered with 431.
    public var headerBytesMax = 16 * 1024
    /// Maximum header fields. More are answered with 431.
    public var headerCountMax = 100
    /// Maximum bytes of a body, independent of the handler's plan. A longer one is answered with 413.
    public var bodyBytesMax = 64 * 1024 * 1024
    /// Maximum bytes of the bodies being collected over all connections. A request beyond it is answered with 503. One
    /// client network may use an eighth of the free bytes, or 2 MB.
    public var bodyBytesOfAllMax = 128 * 1024 * 1024
    /// Maximum time for a request head from its first byte, and for a TLS handshake. A slower head is answered
    /// with 408.
    public var headerTimeoutSeconds = 10.0
    /// Minimum average speed of a body in each span. A slower one is answered with 408.
    public var bodyBytesPerSecondMin = 1024
    /// Length of the spans in which the speed of a body is measured.
    public var bodySpanSeconds = 5.0
    /// Maximum time for a collected body. A slower one is answered with 408. Sinks have their own limit.
    public var bodySecondsMax = 600.0
    /// Maximum bytes of queued responses over all connections. A response that doesn't fit is replaced by 503. So is a
    /// response to a network that already has more queued bytes than would remain.
    public var outputBytesOfAllMax = 64 * 1024 * 1024
    /// Minimum average speed at which a client reads a response in each span. A slower connection is closed.
    public var outputBytesPerSecondMin = 1024
    /// Maximum time in which a client would read the rest of a response at its present speed.
    public var outputSecondsMax = 600.0
    /// Maximum time of a response from a source. A longer one is cut off.
    public var streamSecondsMax = 3_600.0
    /// Length of the spans in which the speed of a reader is measured.
    public var outputSpanSeconds = 15.0
    /// Maximum time for a handler's response. Then the server answers with 503.
    public var answerTimeoutSeconds = 60.0
    /// Time after which an idle connection is closed.
    public var idleTimeoutSeconds = 75.0
    /// Maximum requests on a connection. Then it is closed.
    public var requestsPerConnectionMax = 100_000
    /// Maximum connections. Further ones are answered with 503 and closed.
    public var connectionsMax = 20_000
    /// Maximum connections from one address (for IPv6, one /64 network). Further ones are answered with 503 and closed.
    /// 0 for no limit.
    public var connectionsOfAddressMax = 1_000
    /// True to count connections from loopback too. Default: false, because a local proxy connects for all clients.
    public var countsLoopbackConnections = false
    /// Maximum time for which a rejected request is still read, so that the client gets the response and not a reset.
    public var lingerSeconds = 2.0

    /// The clock of the `Date` header field.
    public var clock: any TimeSource = SystemTimeSource()
    /// The clock for timeouts.
    public var monotonicClock: any MonotonicSource = SystemMonotonicSource()
    /// The source of request IDs.
    public var random: any RandomSource = SystemRandomSource()
    /// The source of the threads of the event loops.
    package var threads: ThreadSource = .system

    /// Makes options for loopback, any free port and one event loop per core.
    public init() {}

    var parserLimits: HTTPParserLimits {
        var limits = HTTPParserLimits()
        limits.targetBytesMax = targetBytesMax
        limits.headerBytesMax = headerBytesMax
        limits.headerCountMax = headerCountMax
        return limits
    }
}

/// The files of TLS.
public struct HTTPServerTLSOptions: Sendable {
    /// The PEM file with the certificate, and after it those of its issuers.
    public var certificatePath: String
    /// The PEM file with the private key.
    public var privateKeyPath: String

    /// Makes options with these files.
    public init(certificatePath: String, privateKeyPath: String) {
        self.certificatePath = certificatePath
        self.privateKeyPath = privateKeyPath
    }
}

/// An error at the start of a server.
public struct HTTPServerError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failures.
    public enum Code: String, Sendable {
        /// The host is no address of this machine.
        case badHost
        /// Another process listens on the port.
        case portTaken
        /// The port may not be used by this user (below 1024).
        case notPermitted
        /// The server runs already, or was stopped: a server starts once.
        case alreadyStarted
        /// The certificate file can't be read or holds no certificate.
        case badCertificate
        /// The key file can't be read or holds no key.
        case badPrivateKey
        /// The key does not belong to the certificate.
        case keyMismatch
        /// A system call failed. The message names it.
        case system
    }

    /// What failed.
    public var code: Code
    /// Human-readable description, with the remedy.
    public var message: String

    /// The error of a second start.
    package static let alreadyStarted = HTTPServerError(
        code: .alreadyStarted, message: "a server starts once; make another one")

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
