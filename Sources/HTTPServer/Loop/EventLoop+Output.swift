import Glibc
import Synchronization

extension EventLoop {
    /// Maximum bytes pulled from a source at a time.
    private static let pullBytesMax = 64 * 1024

    /// Writes queued output until the kernel accepts no more.
    func flush(_ connection: HTTPConnection) {
        while !connection.output.isEmpty, connection.isWritable {
            let result = connection.tls.map { connection.send(through: $0, buffers.tls) }
            switch result ?? connection.send(buffers.vectors) {
            case .bytes(let count): connection.exchange?.bytesOut += count
            case .blocked: break
            case .ended, .failed: return cut(connection, .clientLeft)
            }
        }
        guard let exchange = connection.exchange, connection.phase == .responding else { return }
        exchange.releaseOutput(shared.output, queuedBytes: connection.output.byteCount)
        if connection.output.isEmpty {
            exchange.bytesReadAtSpan = nil
            if exchange.source == nil { finish(connection, exchange) }
        } else if exchange.bytesReadAtSpan == nil {
            beginOutputSpan(connection, exchange)
        }
    }

    /// Begins a span in which the client must read enough of the response.
    func beginOutputSpan(_ connection: HTTPConnection, _ exchange: Exchange) {
        connection.beginOutputSpan(exchange)
        setDeadline(connection, now + milliseconds(options.outputSpanSeconds))
    }

    /// Queues a response.
    func respond(_ connection: HTTPConnection, _ answer: PendingResponse) {
        guard let exchange = connection.exchange else { return }
        connection.phase = .responding
        exchange.context = answer.context
        exchange.written = answer.written
        exchange.onDisconnect = []
        exchange.giveUp = nil
        exchange.body.release(exchange.network, shared.bodies)
        var response = answer.response
        if !response.isWellFormed {
            response = handler.errorResponse(
                status: 500, reason: "the handler's response has an invalid header field")
            response.status = 500
            if !response.isWellFormed { response = HTTPResponse(status: 500) }
        }
        if !exchange.countOutput(of: response, shared.output) {
            guard response.mayBeAskedAgain else { return cut(connection, .unanswered) }
            response = handler.errorResponse(
                status: 503, reason: "too many responses are queued; try again later")
            response.status = 503
        }
        exchange.status = response.status
        if response.asksToClose || stopDeadline != nil || connection.sawEnd { exchange.keepsAlive = false }
        let length = exchange.frame(response.body)
        let date = date.bytes(options.clock)
        connection.output.append(
            response.headBytes(
                exchange: exchange, length: length, date: date, requestIDHeader: options.requestIDHeader))
        if case .bytes(let bytes) = response.body, exchange.sendsBody { connection.output.append(bytes) }
    }

    /// Sends an error response of the server, and closes the connection after it.
    func refuse(
        _ connection: HTTPConnection, _ status: Int, _ reason: String,
        _ ending: HTTPExchangeSummary.Ending = .refused
    ) {
        let exchange: Exchange
        if let present = connection.exchange {
            exchange = present
        } else {
            connection.requestCount &+= 1
            exchange = Exchange(
                head: nil, requestID: identifiers.next(), network: connection.network, keepsAlive: false,
                nowMilliseconds: now)
            connection.exchange = exchange
        }
        let callbacks = exchange.onDisconnect
        // After a late response the connection can be reused. It is closed only if the input can't be parsed further.
        if connection.phase != .handling { exchange.keepsAlive = false }
        exchange.ending = ending
        var response = handler.errorResponse(status: status, reason: reason)
        response.status = status
        if status == 426 { response.headers.append(("Upgrade", "TLS/1.2, HTTP/1.1")) }
        let sink = connection.phase == .reading ? exchange.body.sink : nil
        respond(connection, PendingResponse(response: response))
        sink?.cancelled()
        for body in callbacks { body() }
    }

    // MARK: Sources

    /// Pulls from the source, if there is one. Returns true if the connection's phase has changed.
    func goOnResponding(_ connection: HTTPConnection) -> Bool {
        guard let exchange = connection.exchange else { return false }
        guard let source = exchange.source else {
            finish(connection, exchange)
            return connection.phase != .responding
        }
        if exchange.isPulling { return false }
        guard now - exchange.startedMilliseconds <= milliseconds(options.streamSecondsMax) else {
            cut(connection, .tooSlow)
            return true
        }
        exchange.isPulling = true
        exchange.pullNumber &+= 1
        setDeadline(connection, now + milliseconds(options.answerTimeoutSeconds))
        source.pull(
            bytesMax: Self.pullBytesMax,
            HTTPBodyPull(mailbox: mailbox, key: connection.exchangeKey, number: exchange.pullNumber))
        return false
    }

    /// Queues a piece of the source.
    func take(_ connection: HTTPConnection, _ number: UInt32, _ bytes: [UInt8], isLast: Bool) {
        guard let exchange = connection.exchange, exchange.source != nil, exchange.isPulling,
            exchange.pullNumber == number
        else { return }
        exchange.isPulling = false
        guard exchange.append(bytes, isLast: isLast, to: &connection.output) else {
            return cut(connection, .unanswered)
        }
        list(connection)
    }

    // MARK: Ends

    /// Ends an exchange after its response was sent.
    private func finish(_ connection: HTTPConnection, _ exchange: Exchange) {
        connection.exchange = nil
        if exchange.keepsAlive, stopDeadline == nil {
            connection.phase = .reading
            setDeadline(connection, now + milliseconds(options.idleTimeoutSeconds))
        } else {
            beginLingering(connection)
        }
        tell(connection, exchange, exchange.clientLeft ? .clientLeft : exchange.ending)
    }

    private func beginLingering(_ connection: HTTPConnection) {
        connection.phase = .lingering
        connection.pending = []
        connection.tls?.sayGoodbye()
        shutdown(connection.descriptor, Int32(SHUT_WR))
        setDeadline(connection, now + milliseconds(options.lingerSeconds))
    }

    /// Reports the end of an exchange to its callbacks and the handler.
    private func tell(
        _ connection: HTTPConnection, _ exchange: Exchange, _ ending: HTTPExchangeSummary.Ending
    ) {
        exchange.body.release(exchange.network, shared.bodies)
        exchange.releaseOutput(shared.output, queuedBytes: 0)
        exchange.written?(ending == .answered)
        exchange.written = nil
        handler.finished(exchange.summary(peer: connection.peer, now: now, ending))
    }

    /// Notifies the handler that the client has closed its side. The response is still sent.
    func tellThatTheClientLeft(_ connection: HTTPConnection) {
        guard let exchange = connection.exchange, !exchange.clientLeft else { return }
        exchange.clientLeft = true
        exchange.keepsAlive = false
        let callbacks = exchange.onDisconnect
        exchange.onDisconnect = []
        for body in callbacks { body() }
    }

    /// Closes a connection at once, and ends its request.
    func cut(_ connection: HTTPConnection, _ ending: HTTPExchangeSummary.Ending) {
        guard connection.phase != .closed else { return }
        let wasReading = connection.phase == .reading
        connection.phase = .closed
        connections.remove(connection)
        if !connection.isTurnedAway { shared.connectionCount.subtract(1, ordering: .relaxed) }
        if connection.isCounted { shared.addresses.end(connection.network) }
        // TLS is closed properly only between exchanges. A cut must look like one.
        if connection.exchange == nil { connection.tls?.sayGoodbye() }
        connection.tls = nil
        close(connection.descriptor)
        if listener.pausedUntil != nil { listener.resume() }
        connection.pending = []
        connection.output = OutputQueue()
        guard let exchange = connection.exchange else { return }
        connection.exchange = nil
        if wasReading { exchange.body.sink?.cancelled() }
        exchange.source?.cancelled()
        for body in exchange.onDisconnect { body() }
        _ = exchange.giveUp?()
        tell(connection, exchange, ending)
    }
}
