/// A request from its head to the last byte of its answer, on its loop.
final class Exchange {
    /// Given away with the request, so that a parked request costs little.
    var head: HTTPRequestHead?
    let method: String
    let path: String
    let isVersion10: Bool
    let requestID: String
    let startedMilliseconds: Int64
    /// The client's network, for limits by network. Behind a trusted proxy it is the reported one.
    let network: ClientNetwork
    var keepsAlive: Bool

    // The body.
    var body = [UInt8]()
    /// How many of its bytes count against the limit of all bodies.
    var bytesHeld = 0
    var sink: (any HTTPBodySink)?
    var bytesIn = 0
    /// How many bytes had come when the present span began, in which enough must come.
    var bytesInAtSpan = 0
    var isPaused = false
    var awaitsBody = false

    // The response.
    var status = 0
    var bytesOut = 0
    /// How many of the response's bytes count against the limit of all answers.
    var outputBytesHeld = 0
    /// How many bytes the client had read when the present span began; nil while it has nothing to read.
    var bytesReadAtSpan: Int?
    /// The response that goes out later.
    var held: PendingResponse?
    var context: (any Sendable)?
    var written: (@Sendable (Bool) -> Void)?
    var source: (any HTTPBodySource)?
    var isChunked = false
    var sourceRemaining = 0
    var pullNumber: UInt32 = 0
    var isPulling = false
    /// What `finished` says when all bytes get out.
    var ending = HTTPExchangeSummary.Ending.answered
    var onDisconnect = [@Sendable () -> Void]()
    /// Cancels the work if it has not begun. Nil if the handler set none.
    var giveUp: (@Sendable () -> Bool)?
    /// The time was over and the work had begun: once more as long is waited for its end.
    var isOvertime = false
    var clientLeft = false

    init(
        head: HTTPRequestHead?, requestID: String, network: ClientNetwork, keepsAlive: Bool,
        nowMilliseconds: Int64
    ) {
        self.head = head
        method = head?.method ?? ""
        path = head?.path ?? ""
        isVersion10 = head?.isVersion10 ?? false
        self.requestID = requestID
        self.network = network
        self.keepsAlive = keepsAlive
        startedMilliseconds = nowMilliseconds
    }
}
