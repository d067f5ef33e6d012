import Foundation
import HTTPServer
import System

/// A handler whose answers a test decides, and that remembers how each request ended.
final class TestHandler: HTTPHandler {
    typealias Answering = @Sendable (HTTPRequest, HTTPExchange) -> Void

    private let answering: Answering
    private let planning: @Sendable (HTTPRequestHead) -> HTTPBodyPlan
    private let client: @Sendable (HTTPRequestHead) -> String?
    let summaries = Inbox<HTTPExchangeSummary>()
    let stops = Inbox<Void>()

    init(
        _ answer: @escaping Answering = TestHandler.echo,
        planning: @escaping @Sendable (HTTPRequestHead) -> HTTPBodyPlan = { _ in .collect(bytesMax: 1 << 20)
        },
        client: @escaping @Sendable (HTTPRequestHead) -> String? = { _ in nil }
    ) {
        self.client = client
        self.planning = planning
        answering = answer
    }

    /// Answers with method, path and body.
    static let echo: Answering = { request, exchange in
        let text = Array("\(request.head.method) \(request.head.path) ".utf8)
        exchange.respond(HTTPResponse(status: 200, contentType: "text/plain", body: text + request.body))
    }

    func clientAddress(of head: HTTPRequestHead) -> String? { client(head) }
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { planning(head) }
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) { answering(request, exchange) }
    func finished(_ summary: HTTPExchangeSummary) { summaries.add(summary) }
    func stopping() { stops.add(()) }
    func errorResponse(status: Int, reason: String) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "application/json", body: Array("{\"reason\":\"\(reason)\"}".utf8))
    }
}

/// What another thread left, and a way to wait for it.
final class Inbox<Element: Sendable>: @unchecked Sendable {
    // Sendable because `elements` is touched only with `condition` locked.
    private let condition = NSCondition()
    private var elements = [Element]()

    func add(_ element: Element) {
        condition.lock()
        elements.append(element)
        condition.broadcast()
        condition.unlock()
    }

    /// The next element; throws when none comes in a minute.
    func next() throws -> Element {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: 60)
        while elements.isEmpty {
            guard condition.wait(until: deadline) else {
                throw RawClient.Failure(description: "nothing was left in the inbox in a minute")
            }
        }
        return elements.removeFirst()
    }

    var count: Int {
        condition.lock()
        defer { condition.unlock() }
        return elements.count
    }
}

/// Serves while `body` runs, on a thread of its own, and stops.
func withServer(
    _ handler: TestHandler = TestHandler(), _ change: (inout HTTPServerOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (Int, HTTPServer) throws -> Void
) async throws {
    var options = HTTPServerOptions()
    options.loopCount = 2
    change(&options)
    let server = HTTPServer(options: options, handler: handler)
    try server.start()
    try await onThread {
        defer { server.stop(graceMilliseconds: 0) }
        try body(server.port, server)
    }
}

/// The error that `body` throws.
func failure(_ body: () throws -> Void) -> HTTPServerError? {
    do {
        try body()
        return nil
    } catch {
        return error as? HTTPServerError
    }
}
