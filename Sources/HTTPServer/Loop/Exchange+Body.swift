extension Exchange {
    /// Adds bytes of the request's body, and counts them.
    func append(_ bytes: UnsafeBufferPointer<UInt8>, _ counts: NetworkByteCounts) -> NetworkByteCounts.Answer
    {
        body.append(contentsOf: bytes)
        let answer = counts.take(bytes.count, for: network)
        if answer == .taken { bytesHeld += bytes.count }
        return answer
    }

    /// Releases the request's body, which was passed on or isn't needed any more.
    func releaseBody(_ counts: NetworkByteCounts) {
        body = []
        guard bytesHeld > 0 else { return }
        counts.giveBack(bytesHeld, for: network)
        bytesHeld = 0
    }

    /// Begins a span in which the client must send enough of the body.
    func beginBodySpan() {
        awaitsBody = true
        bytesInAtSpan = bytesIn
    }

    /// Returns true if the client sent enough of the body in the span that ends now, and isn't past the maximum time.
    func sendsFastEnough(_ options: HTTPServerOptions, now: Int64) -> Bool {
        let isInTime = sink != nil || now - startedMilliseconds <= milliseconds(options.bodySecondsMax)
        let bytesMin = options.bodySpanSeconds * Double(options.bodyBytesPerSecondMin)
        return isInTime && Double(bytesIn - bytesInAtSpan) >= bytesMin
    }
}
