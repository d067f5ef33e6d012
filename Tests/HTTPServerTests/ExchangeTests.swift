import Dispatch
import HTTPServer
import Testing

/// The promises to a handler about its exchanges.
@Suite struct ExchangeTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func anyThreadMayAnswer() async throws {
        let queue = DispatchQueue(label: "answers", attributes: .concurrent)
        let handler = TestHandler { request, exchange in
            queue.async { TestHandler.echo(request, exchange) }
        }
        try await withServer(handler) { port, _ in
            let clients = try (0..<20).map { _ in try RawClient(port: port) }
            for _ in 0..<20 {
                for client in clients { client.send(Self.get) }
                for client in clients { #expect(try client.answer().text == "GET /a ") }
            }
        }
    }

    @Test func onlyTheFirstAnswerCounts() async throws {
        let writes = Inbox<Bool>()
        let handler = TestHandler { _, exchange in
            exchange.respond(HTTPResponse(status: 201), context: "first") { writes.add($0) }
            exchange.respond(HTTPResponse(status: 202), context: "second") { writes.add($0) }
        }
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            #expect(try client.exchange(Self.get).status == 201)
            #expect(try Set([writes.next(), writes.next()]) == [false, true])
            #expect(try handler.summaries.next().context as? String == "first")
            #expect(try client.exchange(Self.get).status == 201)
        }
    }

    @Test func anExchangeThatIsDroppedIsAnsweredAtOnce() async throws {
        let handler = TestHandler { _, _ in }
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            #expect(try client.exchange(Self.get).status == 500)
            #expect(try handler.summaries.next().ending == .unanswered)
            #expect(try client.exchange(Self.get).status == 500)
        }
    }

    @Test func anExchangeThatIsNotAnsweredInTimeIsAnswered503AndALateAnswerIsIgnored() async throws {
        let kept = Inbox<HTTPExchange>()
        let left = Inbox<Void>()
        let writes = Inbox<Bool>()
        let handler = TestHandler { _, exchange in
            exchange.onDisconnect { left.add(()) }
            kept.add(exchange)
        }
        try await withServer(handler, { $0.answerTimeoutSeconds = 0.1 }) { port, _ in
            let client = try RawClient(port: port)
            #expect(try client.exchange(Self.get).status == 503)
            try left.next()
            let late = try kept.next()
            late.respond(HTTPResponse(status: 200)) { writes.add($0) }
            #expect(try writes.next() == false)
            #expect(try client.exchange(Self.get).status == 503)
            #expect(try handler.summaries.next().ending == .unanswered)
        }
    }

    @Test func whatHasNotBegunIsGivenUpAndAnswered503AndWhatHasBegunIs500AfterASecondTime() async throws {
        let kept = Inbox<HTTPExchange>()
        let asked = Inbox<String>()
        let handler = TestHandler { request, exchange in
            let path = request.head.path
            exchange.onGiveUp {
                asked.add(path)
                return path == "/waiting"
            }
            kept.add(exchange)
        }
        try await withServer(handler, { $0.answerTimeoutSeconds = 0.1 }) { port, _ in
            for (path, status) in [("/waiting", 503), ("/begun", 500)] {
                let client = try RawClient(port: port)
                let answer = try client.exchange("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(answer.status == status)
                #expect(try asked.next() == path)
            }
            // Whoever leaves gives up too.
            var client: RawClient? = try RawClient(port: port)
            client?.send("GET /left HTTP/1.1\r\nHost: x\r\n\r\n")
            // Held: one that is let go is answered at once.
            let exchanges = try (0..<3).map { _ in try kept.next() }
            client = nil
            #expect(try asked.next() == "/left")
            withExtendedLifetime(exchanges) {}
        }
    }

    @Test func aHeldResponseIsSentLaterOrWhenTheServerStops() async throws {
        let handler = TestHandler { request, exchange in
            var response = HTTPResponse(status: 429)
            response.holdMilliseconds = ["/short": 200, "/long": 60_000][request.head.path] ?? 0
            exchange.respond(response)
        }
        try await withServer(handler, { $0.loopCount = 1 }) { port, server in
            let clients = try ["/short", "/long", "/now"].map { path in
                let client = try RawClient(port: port)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                return client
            }
            #expect(try clients[2].answer().status == 429)
            #expect(!clients[0].waitUntilReadable(milliseconds: 0))
            #expect(try clients[0].answer().status == 429)
            #expect(!clients[1].waitUntilReadable(milliseconds: 0))
            server.stop(graceMilliseconds: 5_000)
            #expect(try clients[1].answer().status == 429)
            #expect(handler.summaries.count == 3)
        }
    }

    @Test func aHandlerIsNotifiedWhenItsClientDisconnects() async throws {
        let kept = Inbox<HTTPExchange>()
        let left = Inbox<Void>()
        let writes = Inbox<Bool>()
        let handler = TestHandler { _, exchange in
            exchange.onDisconnect { left.add(()) }
            kept.add(exchange)
        }
        try await withServer(handler) { port, server in
            var client: RawClient? = try RawClient(port: port)
            client?.send(Self.get)
            let exchange = try kept.next()
            client = nil
            try left.next()
            exchange.respond(HTTPResponse(status: 200)) { writes.add($0) }
            #expect(try writes.next() == false)
            #expect(try handler.summaries.next().ending == .clientLeft)
            // Told at once when it asks after that.
            exchange.onDisconnect { left.add(()) }
            try left.next()
        }
    }

    @Test func aClientThatSendsItsEndWithTheRequestIsStillAnswered() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            client.send(Self.get)
            client.sendEnd()
            #expect(try client.answer().text == "GET /a ")
            #expect(try client.isClosed())
        }
    }

    @Test func anAnswerAfterTheServerStoppedDoesNothing() async throws {
        let kept = Inbox<HTTPExchange>()
        let handler = TestHandler { _, exchange in kept.add(exchange) }
        let writes = Inbox<Bool>()
        try await withServer(handler) { port, server in
            let client = try RawClient(port: port)
            client.send(Self.get)
            let exchange = try kept.next()
            server.stop(graceMilliseconds: 0)
            exchange.respond(HTTPResponse(status: 200)) { writes.add($0) }
            #expect(try writes.next() == false)
            exchange.onDisconnect { writes.add(true) }
            #expect(try writes.next() == true)
            #expect(try handler.summaries.next().ending == .stopped)
        }
    }
}
