import CLinux
import Glibc

/// One client's connection. Only its event loop uses it. An idle connection has no buffer.
final class HTTPConnection {
    enum Phase {
        /// During the TLS handshake.
        case handshaking
        /// Between requests, or in a head or body.
        case reading
        /// The handler has the request.
        case handling
        /// The response is being sent.
        case responding
        /// The response was sent and the connection will be closed. Input is read for a moment longer,
        /// because unread input would make the client's kernel discard the response.
        case lingering
        case closed
    }

    let descriptor: Int32
    let generation: UInt32
    let peer: String
    var tls: TLSSession?
    var phase = Phase.reading
    var parser: HTTPRequestParser
    var exchange: Exchange?
    var requestCount: UInt32 = 0

    /// True if the kernel may have bytes to read. It only reports new ones.
    var isReadable = false
    /// True if the kernel may accept bytes.
    var isWritable = true
    /// True after the client has closed its side.
    var sawEnd = false
    /// True if it is in the loop's list of connections to continue with.
    var isListed = false
    /// Bytes that were read and not parsed yet.
    var pending = [UInt8]()
    var output = OutputQueue()
    var lingeredByteCount = 0
    let network: ClientNetwork
    /// True if it counts as one of its network's connections.
    var isCounted = false
    /// True for a connection beyond the limit, which only gets an error response.
    var isTurnedAway = false

    /// Time at which the current phase expires.
    var deadlineMilliseconds = Int64.max
    /// Time at which the timer wheel checks the deadline next.
    var timerMilliseconds = Int64.max
    /// Time at which the first byte of an incomplete head arrived.
    var headStartedMilliseconds: Int64 = -1

    init(
        descriptor: Int32, generation: UInt32, peer: String, network: ClientNetwork, limits: HTTPParserLimits
    ) {
        self.descriptor = descriptor
        self.generation = generation
        self.peer = peer
        self.network = network
        parser = HTTPRequestParser(limits: limits)
    }

    /// Key of the connection in epoll and in the timer wheel.
    var key: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

    var exchangeKey: ExchangeKey {
        ExchangeKey(descriptor: descriptor, generation: generation, request: requestCount)
    }

    /// True if there is no request and no queued output.
    var isIdle: Bool {
        phase == .reading && exchange == nil && output.isEmpty && pending.isEmpty && parser.isBetweenRequests
    }
}
