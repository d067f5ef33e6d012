import CLinux
import Glibc
import System

/// Where a server listens, and its limits. Each limit has its unit in its name.
public struct HTTPServerOptions: Sendable {
    /// The address to listen on: an IPv4 or IPv6 address, or `localhost`.
    public var host = "127.0.0.1"
    /// The port; 0 takes any free one.
    public var port = 0
    /// How many threads serve, each with its own listening socket.
    public var loopCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// TLS, when the server itself is to speak it.
    public var tls: HTTPServerTLSOptions?
    /// The name of the header field of each reply that carries the request's id.
    public var requestIDHeader = "X-Request-ID"

    /// The request line's target may have so many bytes; more is answered with 414.
    public var targetBytesMax = 8 * 1024
    /// Request line and header fields may have so many bytes; more is answered with 431.
    public var headerBytesMax = 16 * 1024
    /// There may be so many header fields; more is answered with 431.
    public var headerCountMax = 100
    /// No body may be longer, whatever the handler plans; more is answered with 413.
    public var bodyBytesMax = 64 * 1024 * 1024
    /// Bytes of the bodies that are being collected, of all connections together. A request beyond them is answered
    /// with 503. One client network has an eighth of what is left, or 2 MB.
    public var bodyBytesOfAllMax = 128 * 1024 * 1024
    /// A head, once begun, must be complete within this time, else 408. The TLS handshake has as long.
    public var headerTimeoutSeconds = 10.0
    /// In each span a body must arrive at least this fast on average, else 408.
    public var bodyBytesPerSecondMin = 1024
    /// The length of the spans in which the body's speed is looked at.
    public var bodySpanSeconds = 5.0
    /// A body that is collected must be here within this time, else 408. A sink has a time of its own.
    public var bodySecondsMax = 600.0
    /// Maximum bytes of queued responses over all connections. A response that doesn't fit is replaced by 503. So is a
    /// response to a network that already has more queued bytes than would remain.
    public var outputBytesOfAllMax = 64 * 1024 * 1024
    /// In each span the client must read an answer at least this fast on average, else it is cut.
    public var outputBytesPerSecondMin = 1024
    /// A client must also read so fast that it would have the rest within this time.
    public var outputSecondsMax = 600.0
    /// The client must have a body that a source gives within this time, else it is cut.
    public var streamSecondsMax = 3_600.0
    /// The length of the spans in which the reader's speed is looked at.
    public var outputSpanSeconds = 15.0
    /// A handler must answer within this time, else the server answers 503.
    public var answerTimeoutSeconds = 60.0
    /// A connection without a request is closed after this time.
    public var idleTimeoutSeconds = 75.0
    /// After so many requests a connection is closed.
    public var requestsPerConnectionMax = 100_000
    /// More connections than this are answered with 503 and closed.
    public var connectionsMax = 20_000
    /// More connections than this from one address (of IPv6: one network of 64 bits) are answered with 503 and closed;
    /// 0: as many as come.
    public var connectionsOfAddressMax = 1_000
    /// Whether connections from this machine count too. Not by default: a proxy's are everybody's.
    public var countsLoopbackConnections = false
    /// The longest time a refused request is read on, so that the client sees the answer and not a reset.
    public var lingerSeconds = 2.0

    /// The clock of the `Date` header field.
    public var clock: any TimeSource = SystemTimeSource()
    /// The clock of the limits.
    public var monotonicClock: any MonotonicSource = SystemMonotonicSource()
    /// Where request ids begin.
    public var random: any RandomSource = SystemRandomSource()

    /// Loopback, any free port, a loop a core.
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

    /// Names the files.
    public init(certificatePath: String, privateKeyPath: String) {
        self.certificatePath = certificatePath
        self.privateKeyPath = privateKeyPath
    }
}

/// Why a server could not start.
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
        /// The operating system refused; the message says what.
        case system
    }

    /// What failed.
    public var code: Code
    /// What failed on what, and what to do.
    public var message: String

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
