extension EventLoop {
    func read(_ message: EventLoopMessage) {
        switch message {
        case .answer(let key, let answer):
            guard let connection = connections[key], connection.phase == .handling else {
                answer.written?(false)
                return
            }
            if hold(connection, answer) { return }
            respond(connection, answer)
            list(connection)
        case .abandoned(let key):
            guard let connection = connections[key], connection.phase == .handling else { return }
            // The client has disconnected, so a missing response isn't an error of the handler.
            if connection.exchange?.clientLeft == true { return cut(connection, .clientLeft) }
            refuse(connection, 500, "the handler gave no response", .unanswered)
            list(connection)
        case .onDisconnect(let key, let body):
            guard let connection = connections[key], let exchange = connection.exchange, !exchange.clientLeft,
                connection.phase == .handling
            else { return body() }
            exchange.onDisconnect.append(body)
        case .onGiveUp(let key, let giveUp):
            guard let connection = connections[key], connection.phase == .handling else { return }
            connection.exchange?.giveUp = giveUp
        case .resume(let key):
            guard let connection = connections[key], let exchange = connection.exchange,
                exchange.body.isPaused,
                connection.phase == .reading
            else { return }
            exchange.body.isPaused = false
            // The time used by the sink doesn't count against the client.
            beginBodySpan(connection, exchange)
            // If it paused at the last piece, there is no further input to trigger the end.
            if connection.pending.isEmpty { take(connection, UnsafeBufferPointer(start: nil, count: 0)) }
            list(connection)
        case .refuse(let key, let response):
            guard let connection = connections[key], connection.phase == .reading else { return }
            connection.exchange?.keepsAlive = false
            respond(connection, PendingResponse(response: response))
            list(connection)
        case .piece(let key, let number, let bytes, let isLast):
            guard let connection = connections[key] else { return }
            take(connection, number, bytes, isLast: isLast)
        case .pieceFailed(let key, let number):
            guard let connection = connections[key], connection.exchange?.pullNumber == number else { return }
            cut(connection, .unanswered)
        case .stop(let graceMilliseconds): stop(graceMilliseconds: graceMilliseconds)
        }
    }

    /// Delays a response. Returns false if it is sent at once.
    private func hold(_ connection: HTTPConnection, _ answer: PendingResponse) -> Bool {
        guard let exchange = connection.exchange, answer.response.holdMilliseconds > 0, !exchange.clientLeft,
            stopDeadline == nil
        else { return false }
        exchange.held = answer
        (exchange.context, exchange.written) = (answer.context, answer.written)
        setDeadline(connection, now + answer.response.holdMilliseconds)
        return true
    }

    // MARK: Stopping

    private func stop(graceMilliseconds: Int) {
        let deadline = now + Int64(max(0, graceMilliseconds))
        stopDeadline = min(deadline, stopDeadline ?? deadline)
        if listener.isOpen {
            // Clients in the kernel's queue would see a reset. The bound keeps a flood from delaying the stop.
            for _ in 0..<64 where !acceptConnections() { break }
            listener.close()
        }
        for connection in connections.all {
            if connection.phase == .handshaking { cut(connection, .stopped) }
            if connection.exchange?.held != nil { setDeadline(connection, now) }
            // A request that is already in the socket is served.
            if connection.isIdle {
                connection.isReadable = true
                goOn(connection)
            }
            if connection.isIdle { cut(connection, .stopped) }
        }
    }

    func cutAll() {
        for connection in connections.all { cut(connection, .stopped) }
    }
}
