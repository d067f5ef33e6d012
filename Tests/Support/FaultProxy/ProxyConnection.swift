/// The exchanges of one client's connection, one after the other.
final class ProxyConnection {
    private let proxy: FaultProxy
    private let client: ByteStream
    private let stop: Signal

    init(_ proxy: FaultProxy, client: Descriptor, stop: Signal) {
        self.proxy = proxy
        self.client = ByteStream(client, stop: stop)
        self.stop = stop
    }

    func run() {
        do {
            while let request = try HTTPMessage.request(from: client) {
                guard try exchange(request) else { return }
            }
        } catch {
            // The connection's end is all that a client sees of it.
        }
    }

    /// Returns whether the connection goes on.
    private func exchange(_ request: HTTPMessage) throws -> Bool {
        let (exchange, fault) = proxy.begin(request)
        proxy.tell(.requestArrived(exchange, fault))
        do {
            let goesOn = try perform(exchange, fault, request)
            proxy.tell(.ended(exchange, fault))
            return goesOn
        } catch ProxyError.otherSideGone {
            proxy.count(\.clientGone)
            throw ProxyError.otherSideGone
        } catch ProxyError.stopped {
            throw ProxyError.stopped
        } catch {
            proxy.count(\.serverGone)
            proxy.tell(.serverGone(exchange, fault))
            throw error
        }
    }

    private func perform(_ exchange: ProxyExchange, _ fault: Fault, _ request: HTTPMessage) throws -> Bool {
        switch fault {
        case .loseRequest:
            proxy.count(\.requestsLost)
            return false
        case .cutRequest(let count):
            try connect().write(request.bytes.prefix(count))
            proxy.count(\.requestsCut)
            return false
        case .delayRequest(let milliseconds):
            _ = try client.wait(for: Signal(), timeoutMilliseconds: milliseconds)
            proxy.count(\.requestsDelayed)
        default: break
        }
        let reply = try serverReply(to: request)
        if fault == .duplicateRequest {
            _ = try serverReply(to: request)
            proxy.count(\.requestsDuplicated)
        }
        return try deliver(reply, exchange, fault, request)
    }

    private func deliver(
        _ reply: HTTPMessage, _ exchange: ProxyExchange, _ fault: Fault, _ request: HTTPMessage
    ) throws -> Bool {
        let arrived = ProxyEvent.replyArrived(exchange, fault, status: reply.status)
        if fault == .withholdReply {
            proxy.count(\.repliesWithheld)
            let isReleased = try proxy.waitForDecision(exchange, client: client) { proxy.tell(arrived) }
            guard isReleased else { return false }
        } else {
            proxy.tell(arrived)
        }
        switch fault {
        case .dropReply:
            proxy.count(\.repliesDropped)
            return false
        case .cutReply(let count):
            // Counted first: who sees the reply's end finds it in the counts.
            proxy.count(\.repliesCut)
            // However short the reply is, its end is missing.
            try? client.write(reply.bytes.prefix(min(count, reply.bytes.count - 1)))
            return false
        default:
            if fault == .pass { proxy.count(\.passed) }
            // A client that is gone by now got nothing, but the exchange with the server was whole.
            try? client.write(reply.bytes)
            return reply.keepsConnection && request.keepsConnection
        }
    }

    private func serverReply(to request: HTTPMessage) throws -> HTTPMessage {
        let server = try connect()
        try server.write(request.bytes)
        return try HTTPMessage.reply(to: request.firstLine[0], from: server, watching: client)
    }

    private func connect() throws -> ByteStream {
        ByteStream(try Sockets.connection(port: proxy.targetPort), stop: stop)
    }
}
