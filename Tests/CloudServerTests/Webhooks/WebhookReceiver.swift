import HTTPServer
import System

/// An operator's server, which keeps what it is sent and answers as it is told.
final class WebhookReceiver: HTTPHandler {
    private let server = Lock<HTTPServer?>(nil)
    private let requests = Lock<[HTTPRequest]>([])
    private let statuses: Lock<[Int]>
    private let answered = Signal()

    /// - Parameter statuses: what the first requests are answered with; the others get 200.
    init(statuses: [Int] = []) throws {
        self.statuses = Lock(statuses)
        let server = HTTPServer(options: HTTPServerOptions(), handler: self)
        try server.start()
        self.server.withLock { $0 = server }
    }

    var port: Int { server.withLock { $0?.port ?? 0 } }

    /// The requests so far, as soon as there are so many.
    func received(_ count: Int) throws -> [HTTPRequest] {
        guard answered.wait(until: { self.requests.withLock { $0.count } >= count }) else {
            throw Failure("\(requests.withLock { $0.count }) requests instead of \(count)")
        }
        return requests.withLock { $0 }
    }

    /// Waits until the requests so far are enough.
    func received(_ isEnough: ([HTTPRequest]) -> Bool) throws {
        guard answered.wait(until: { isEnough(self.requests.withLock { $0 }) }) else {
            throw Failure("\(requests.withLock { $0.count }) requests are not enough")
        }
    }

    /// Answers 200 from now on.
    func take() { statuses.withLock { $0 = [] } }

    func stop() { server.withLock { $0 }?.stop(graceMilliseconds: 0) }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        requests.withLock { $0.append(request) }
        let status = statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
        exchange.respond(HTTPResponse(status: status, contentType: "text/plain", body: []))
        answered.ring()
    }
}
