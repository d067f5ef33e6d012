import HTTPServer
import System
import Waiting

/// An operator's server, which keeps what it is sent and answers as it is told.
final class WebhookReceiver: HTTPHandler {
    private let server = Lock<HTTPServer?>(nil)
    private let requests = WatchedValue<[HTTPRequest]>([])
    private let statuses: Lock<[Int]>

    /// - Parameter statuses: what the first requests are answered with; the others get 200.
    init(statuses: [Int] = []) throws {
        self.statuses = Lock(statuses)
        let server = HTTPServer(options: HTTPServerOptions(), handler: self)
        try server.start()
        self.server.withLock { $0 = server }
    }

    var port: Int { server.withLock { $0?.port ?? 0 } }

    /// Waits for so many requests, and returns all so far.
    func received(_ count: Int) throws -> [HTTPRequest] {
        try received { $0.count >= count }
        return requests.value
    }

    /// Waits until the requests so far are enough.
    func received(_ isEnough: @escaping @Sendable ([HTTPRequest]) -> Bool) throws {
        try requests.wait(until: isEnough)
    }

    /// Answers 200 from now on.
    func take() { statuses.withLock { $0 = [] } }

    func stop() { server.withLock { $0 }?.stop(graceMilliseconds: 0) }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let status = statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
        exchange.respond(HTTPResponse(status: status, contentType: "text/plain", body: []))
        requests.change { $0.append(request) }
    }
}
