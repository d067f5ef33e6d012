/// The body of a request while it is received.
struct RequestBody {
    /// The collected bytes. Empty with a sink.
    var bytes = [UInt8]()
    var sink: (any HTTPBodySink)?
    /// True until the paused sink resumes.
    var isPaused = false
    /// Number of bytes received.
    private(set) var receivedBytes = 0
    /// True after the first span has begun.
    private(set) var hasSpan = false
    private var receivedBytesAtSpan = 0
    /// Number of collected bytes that count against the limit of all bodies.
    private var countedBytes = 0

    mutating func noteReceived(_ count: Int) { receivedBytes += count }

    /// Collects bytes and counts them for the client's network.
    mutating func collect(
        _ new: UnsafeBufferPointer<UInt8>, _ network: ClientNetwork, _ counts: NetworkByteCounts
    ) -> NetworkByteCounts.Answer {
        bytes.append(contentsOf: new)
        let answer = counts.take(new.count, for: network)
        if answer == .taken { countedBytes += new.count }
        return answer
    }

    /// Releases the collected bytes, which were passed on or aren't needed any more.
    mutating func release(_ network: ClientNetwork, _ counts: NetworkByteCounts) {
        bytes = []
        guard countedBytes > 0 else { return }
        counts.giveBack(countedBytes, for: network)
        countedBytes = 0
    }

    /// Begins a span in which the client must send enough.
    mutating func beginSpan() {
        hasSpan = true
        receivedBytesAtSpan = receivedBytes
    }

    /// Returns true if the client sent enough in the span that ends now, and isn't past the maximum time.
    func isFastEnough(_ options: HTTPServerOptions, elapsedMilliseconds: Int64) -> Bool {
        let isInTime = sink != nil || elapsedMilliseconds <= milliseconds(options.bodySecondsMax)
        let bytesMin = options.bodySpanSeconds * Double(options.bodyBytesPerSecondMin)
        return isInTime && Double(receivedBytes - receivedBytesAtSpan) >= bytesMin
    }
}
