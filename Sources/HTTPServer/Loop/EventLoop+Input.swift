import CLinux
import Glibc

extension EventLoop {
    /// Maximum reads from one connection before others have their turn.
    private static let readsInARowMax = 4
    /// Maximum bytes that a rejected client may still send while it receives the response.
    private static let lingerBytesMax = 1024 * 1024

    /// Processes a connection until it has to wait.
    func goOn(_ connection: HTTPConnection) {
        var readCount = 0
        while true {
            if !connection.output.isEmpty, connection.isWritable { flush(connection) }
            switch connection.phase {
            case .handshaking:
                guard shakeHands(connection) else { return }
            case .reading:
                guard mayRead(connection) else { return }
                readCount += 1
                if readCount > Self.readsInARowMax { return list(connection) }
                guard read(connection) else { return }
            case .responding:
                guard connection.output.isEmpty, goOnResponding(connection) else { return }
            case .lingering:
                guard connection.output.isEmpty, linger(connection) else { return }
            case .handling, .closed: return
            }
        }
    }

    private func mayRead(_ connection: HTTPConnection) -> Bool {
        if let exchange = connection.exchange, exchange.body.isPaused { return false }
        return connection.isReadable || !connection.pending.isEmpty
    }

    /// Reads once and processes the bytes. Returns false if there is nothing more to do now.
    private func read(_ connection: HTTPConnection) -> Bool {
        if !connection.pending.isEmpty {
            var bytes = [UInt8]()
            swap(&bytes, &connection.pending)
            bytes.withUnsafeBufferPointer { take(connection, $0) }
            return true
        }
        switch connection.receive(into: buffers.read) {
        case .bytes(let count):
            take(connection, UnsafeBufferPointer(rebasing: buffers.read[..<count]))
            return true
        case .blocked: return connection.isReadable
        case .ended:
            connection.isReadable = false
            cut(connection, .clientLeft)
        case .failed: cut(connection, .clientLeft)
        }
        return false
    }

    /// Parses input until it ends or the connection enters another phase.
    func take(_ connection: HTTPConnection, _ input: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while connection.phase == .reading {
            if let exchange = connection.exchange, exchange.body.isPaused { break }
            switch connection.parser.next(input, &position) {
            case .needsMore:
                waitForMore(connection)
                return
            case .head(let parsed):
                begin(connection, parsed, bodyIsHere: position < input.count)
            case .body(let places):
                takeBody(connection, UnsafeBufferPointer(rebasing: input[places]))
            case .end: handle(connection)
            case .failed(let failure): refuse(connection, failure.status, failure.reason)
            }
        }
        let keeps =
            connection.phase == .reading || connection.phase == .handling
            || connection.phase == .responding && connection.exchange?.keepsAlive == true
        if position < input.count, keeps {
            connection.pending = Array(input[position...])
        }
    }

    /// Sets the deadline for the rest of a head or a body.
    private func waitForMore(_ connection: HTTPConnection) {
        if let exchange = connection.exchange {
            if !exchange.body.hasSpan { beginBodySpan(connection, exchange) }
        } else if !connection.parser.isBetweenRequests {
            if connection.headStartedMilliseconds < 0 { connection.headStartedMilliseconds = now }
            setDeadline(
                connection, connection.headStartedMilliseconds + milliseconds(options.headerTimeoutSeconds))
        }
    }

    /// Begins a span in which the client must send enough of the body.
    func beginBodySpan(_ connection: HTTPConnection, _ exchange: Exchange) {
        exchange.body.beginSpan()
        setDeadline(connection, now + milliseconds(options.bodySpanSeconds))
    }

    private func begin(_ connection: HTTPConnection, _ parsed: HTTPParsedHead, bodyIsHere: Bool) {
        var head = parsed.head
        head.requestID = identifiers.next()
        head.peer = connection.peer
        connection.requestCount &+= 1
        connection.headStartedMilliseconds = -1
        let isLast = connection.requestCount >= options.requestsPerConnectionMax
        let exchange = Exchange(
            head: head, requestID: head.requestID,
            network: handler.clientAddress(of: head).flatMap { ClientNetwork($0) } ?? connection.network,
            keepsAlive: parsed.keepsAlive && !isLast, nowMilliseconds: now)
        connection.exchange = exchange
        var bytesMax = options.bodyBytesMax
        switch handler.bodyPlan(for: head) {
        case .collect(let planned): bytesMax = min(bytesMax, planned)
        case .stream(let sink): exchange.body.sink = sink
        case .refuse(let response):
            if parsed.framing != .none { exchange.keepsAlive = false }
            respond(connection, PendingResponse(response: response))
            // Without a body the request ends here, and the parser continues with the next one.
            var position = 0
            if exchange.keepsAlive {
                _ = connection.parser.next(UnsafeBufferPointer(start: nil, count: 0), &position)
            }
            return
        }
        if case .length(let count) = parsed.framing {
            if count > bytesMax {
                return refuse(connection, 413, "the body is longer than \(bytesMax) bytes")
            }
            if exchange.body.sink == nil {
                exchange.body.bytes.reserveCapacity(min(count, EventLoopBuffers.readBytes))
            }
        }
        connection.parser.bodyBytesMax = bytesMax
        if parsed.expectsContinue, parsed.framing != .none, !bodyIsHere {
            connection.output.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            flush(connection)
        }
    }

    private func takeBody(_ connection: HTTPConnection, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let exchange = connection.exchange else { return }
        exchange.body.noteReceived(bytes.count)
        guard let sink = exchange.body.sink else {
            switch exchange.body.collect(bytes, exchange.network, shared.bodies) {
            case .taken: break
            case .isFull: refuse(connection, 503, "too many request bodies at a time")
            case .shareIsFull: refuse(connection, 503, "too many request bodies at a time from your network")
            }
            return
        }
        let flow = HTTPBodyFlow(mailbox: mailbox, key: connection.exchangeKey)
        if case .pause = sink.receive(Array(bytes), flow) {
            exchange.body.isPaused = true
            // The sink has as much time as a response.
            setDeadline(connection, now + milliseconds(options.answerTimeoutSeconds))
        }
    }

    private func handle(_ connection: HTTPConnection) {
        guard let exchange = connection.exchange, let head = exchange.head else { return }
        connection.phase = .handling
        setDeadline(connection, now + milliseconds(options.answerTimeoutSeconds))
        exchange.head = nil
        var request = HTTPRequest(head: head, body: [], sink: exchange.body.sink)
        swap(&request.body, &exchange.body.bytes)
        exchange.body.release(exchange.network, shared.bodies)
        handler.handle(
            request,
            HTTPExchange(requestID: exchange.requestID, mailbox: mailbox, key: connection.exchangeKey))
        // If the client closed its side with the request, the handler is notified after it has the exchange.
        if connection.sawEnd { tellThatTheClientLeft(connection) }
    }

    // MARK: The end of a connection

    /// Reads and discards bytes. Returns false if there is nothing more to do now.
    private func linger(_ connection: HTTPConnection) -> Bool {
        guard connection.isReadable else { return false }
        switch connection.receiveRaw(into: buffers.read) {
        case .bytes(let count):
            connection.lingeredByteCount += count
            if connection.lingeredByteCount <= Self.lingerBytesMax { return true }
        case .blocked: return connection.isReadable
        case .ended, .failed: break
        }
        cut(connection, .answered)
        return false
    }

    /// Handles an expired deadline.
    func expire(_ connection: HTTPConnection) {
        switch connection.phase {
        case .handshaking, .lingering: cut(connection, .tooSlow)
        case .responding:
            if connection.output.isEmpty { return cut(connection, .unanswered) }
            guard let exchange = connection.exchange, connection.readsFastEnough(exchange, options) else {
                return cut(connection, .tooSlow)
            }
            beginOutputSpan(connection, exchange)
        case .handling:
            expireAnswer(connection)
        case .reading:
            if let exchange = connection.exchange, exchange.body.isPaused {
                refuse(connection, 503, "the server didn't process the body in time", .unanswered)
            } else if let exchange = connection.exchange {
                let elapsed = now - exchange.startedMilliseconds
                if exchange.body.isFastEnough(options, elapsedMilliseconds: elapsed) {
                    return beginBodySpan(connection, exchange)
                }
                refuse(connection, 408, "the body arrived too slowly", .tooSlow)
            } else if !connection.parser.isBetweenRequests {
                refuse(connection, 408, "the request head arrived too slowly", .tooSlow)
            } else {
                return cut(connection, .answered)
            }
            goOn(connection)
        case .closed: break
        }
    }

    /// Handles a response that is overdue.
    private func expireAnswer(_ connection: HTTPConnection) {
        guard let exchange = connection.exchange else { return }
        if let held = exchange.held {
            exchange.held = nil
            respond(connection, held)
        } else if exchange.isOvertime {
            refuse(
                connection, 500, "the response took too long; the request may have been executed", .unanswered
            )
        } else if exchange.giveUp?() ?? true {
            refuse(connection, 503, "the response took too long", .unanswered)
        } else {
            exchange.isOvertime = true
            return setDeadline(connection, now + milliseconds(options.answerTimeoutSeconds))
        }
        goOn(connection)
    }

    /// Continues the TLS handshake. Returns true if the connection enters another phase.
    private func shakeHands(_ connection: HTTPConnection) -> Bool {
        switch connection.tls?.shakeHands() {
        case .bytes:
            connection.phase = .reading
            setDeadline(connection, now + milliseconds(options.idleTimeoutSeconds))
            return true
        case .blocked: return false
        case .failed where connection.tls?.sawPlainHTTP == true:
            // In plain HTTP. Otherwise the client only sees a closed connection.
            connection.tls = nil
            refuse(connection, 426, "this port requires TLS: use an address that begins with https://")
            return true
        case .ended, .failed, nil:
            cut(connection, .clientLeft)
            return false
        }
    }
}
