/// A request from its head to the last byte of its response, on its event loop.
final class Exchange {
    /// Passed on with the request, so that a waiting request uses little memory.
    var head: HTTPRequestHead?
    let method: String
    let path: String
    let isVersion10: Bool
    let requestID: String
    let startedMilliseconds: Int64
    /// The client's network, for limits by network. Behind a trusted proxy it is the reported one.
    let network: ClientNetwork
    var keepsAlive: Bool

    var body = RequestBody()

    // The response.
    var status = 0
    var bytesOut = 0
    /// Number of the response's bytes that count against the limit of all responses.
    var outputBytesHeld = 0
    /// Number of bytes that the client had read when the span began. Nil while it has nothing to read.
    var bytesReadAtSpan: Int?
    /// The delayed response.
    var held: PendingResponse?
    var context: (any Sendable)?
    var written: (@Sendable (Bool) -> Void)?
    var source: (any HTTPBodySource)?
    var isChunked = false
    var sourceRemaining = 0
    var pullNumber: UInt32 = 0
    var isPulling = false
    /// The ending to report when all bytes were sent.
    var ending = HTTPExchangeSummary.Ending.answered
    var onDisconnect = [@Sendable () -> Void]()
    /// Cancels the work if it has not begun. Nil if the handler set none.
    var giveUp: (@Sendable () -> Bool)?
    /// True if the time was over and the work had begun. Then the server waits for the same time once more.
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
