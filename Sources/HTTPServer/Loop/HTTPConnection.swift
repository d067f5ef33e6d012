import CLinux
import Glibc

/// One client's connection. Only its loop touches it. While nothing happens on it, it holds no buffer.
final class HTTPConnection {
    enum Phase {
        /// TLS is not agreed yet.
        case handshaking
        /// Between requests, or in a head or body.
        case reading
        /// The handler has the request.
        case handling
        /// A response is on its way out.
        case responding
        /// The response is out and the connection will be closed: reads on for a moment, so that what the client still
        /// sends doesn't make its kernel throw the response away.
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

    /// The kernel may have bytes for us; it tells only when more come.
    var isReadable = false
    /// The kernel may take bytes.
    var isWritable = true
    /// The client has sent its last byte.
    var sawEnd = false
    /// It stands in the loop's list of connections to go on with.
    var isListed = false
    /// Bytes that were read and can't be taken yet.
    var pending = [UInt8]()
    var output = OutputQueue()
    var lingeredByteCount = 0
    let network: ClientNetwork
    /// It is one of its network's connections.
    var isCounted = false
    /// One connection too many: it is told so, and does not take a place.
    var isTurnedAway = false

    /// When the present phase expires.
    var deadlineMilliseconds = Int64.max
    /// When the wheel calls next.
    var timerMilliseconds = Int64.max
    /// When the first byte of an incomplete head came.
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

    /// What names it in epoll and in the wheel.
    var key: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

    var exchangeKey: ExchangeKey {
        ExchangeKey(descriptor: descriptor, generation: generation, request: requestCount)
    }

    /// No request has begun, and nothing waits to be read by the client.
    var isIdle: Bool {
        phase == .reading && exchange == nil && output.isEmpty && pending.isEmpty && parser.isBetweenRequests
    }
}
