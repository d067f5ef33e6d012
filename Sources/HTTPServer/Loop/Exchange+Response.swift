extension Exchange {
    /// Smaller responses aren't counted: the maximum number of connections bounds them.
    private static let countedBytesMin = 4 * 1024

    /// Counts the bytes of a large response.
    ///
    /// - Returns: false if there is no room for it.
    func countOutput(of response: HTTPResponse, _ counts: NetworkByteCounts) -> Bool {
        guard case .bytes(let bytes) = response.body, sendsBody, bytes.count >= Self.countedBytesMin else {
            return true
        }
        guard counts.take(bytes.count, for: network) == .taken else { return false }
        outputBytesHeld = bytes.count
        return true
    }

    /// Releases the counted bytes of the response that are no longer queued.
    func releaseOutput(_ counts: NetworkByteCounts, queuedBytes: Int) {
        let released = outputBytesHeld - queuedBytes
        guard released > 0 else { return }
        outputBytesHeld -= released
        counts.giveBack(released, for: network)
    }

    /// Decides how the body is framed.
    ///
    /// - Returns: the length to announce, or nil.
    func frame(_ body: HTTPResponseBody) -> Int? {
        switch body {
        case .bytes(let bytes): return bytes.count
        case .stream(let source):
            let length = source.byteCount
            guard sendsBody else {
                source.cancelled()
                return length
            }
            self.source = source
            sourceRemaining = length ?? .max
            if length == nil {
                isChunked = !isVersion10
                if !isChunked { keepsAlive = false }
            }
            return length
        }
    }

    /// Queues a piece of the source.
    ///
    /// - Returns: false if the body's length isn't the announced one. The client must then see a closed connection,
    ///   because the next response would begin at the wrong place.
    func append(_ bytes: [UInt8], isLast: Bool, to output: inout OutputQueue) -> Bool {
        if isChunked {
            if !bytes.isEmpty {
                output.append(Array("\(String(bytes.count, radix: 16))\r\n".utf8))
                output.append(bytes)
                output.append([0x0D, 0x0A])
            }
            if isLast { output.append(Array("0\r\n\r\n".utf8)) }
        } else {
            if sourceRemaining != .max {
                sourceRemaining -= bytes.count
                guard sourceRemaining >= 0, !isLast || sourceRemaining == 0 else { return false }
            }
            output.append(bytes)
        }
        if isLast { source = nil }
        return true
    }

    func summary(
        peer: String, now: Int64, _ ending: HTTPExchangeSummary.Ending
    ) -> HTTPExchangeSummary {
        HTTPExchangeSummary(
            requestID: requestID, peer: peer, method: method, path: path, status: status,
            bytesIn: body.receivedBytes,
            bytesOut: bytesOut, milliseconds: now - startedMilliseconds, ending: ending, context: context)
    }
}

extension HTTPConnection {
    /// Begins a span in which the client must read enough of the response.
    func beginOutputSpan(_ exchange: Exchange) {
        exchange.bytesReadAtSpan = exchange.bytesOut - unreadByteCount()
    }

    /// Returns true if the client read enough of the response in the span that ends now.
    func readsFastEnough(_ exchange: Exchange, _ options: HTTPServerOptions) -> Bool {
        guard let before = exchange.bytesReadAtSpan else { return false }
        let unread = unreadByteCount()
        let count = exchange.bytesOut - unread - before
        let rest = Double(output.byteCount + unread)
        let perSecondMin = max(
            Double(options.outputBytesPerSecondMin), rest / max(1, options.outputSecondsMax))
        return Double(count) >= options.outputSpanSeconds * perSecondMin
    }
}
