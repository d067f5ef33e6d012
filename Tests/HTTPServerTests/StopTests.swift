import Foundation
import HTTPServer
import Testing
import Waiting

/// Starting and stopping.
@Suite struct StopTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func requestsInFlightAreAnsweredAndIdleConnectionsClosed() async throws {
        let kept = Inbox<HTTPExchange>()
        let handler = TestHandler { request, exchange in
            if request.head.path == "/park" { return kept.add(exchange) }
            TestHandler.echo(request, exchange)
        }
        try await withServer(handler) { port, server in
            let idle = try RawClient(port: port)
            let silent = try RawClient(port: port)
            #expect(try idle.exchange(Self.get).status == 200)
            let parked = try RawClient(port: port)
            parked.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
            let exchange = try kept.next()
            let stopped = Inbox<Void>()
            Thread {
                server.stop(graceMilliseconds: 9000)
                stopped.add(())
            }.start()
            try handler.stops.next()
            #expect(try idle.isClosed())
            #expect(try silent.isClosed())
            // Each loop closes its own listening socket; no event reports the second.
            try Polling.waitUntil { (try? RawClient(port: port)) == nil }
            #expect(stopped.count == 0)
            exchange.respond(HTTPResponse(status: 200, body: .bytes([0x61])))
            let answer = try parked.answer()
            #expect(answer.text == "a" && answer.headers["connection"] == "close")
            #expect(try parked.isClosed())
            try stopped.next()
            #expect(server.connectionCount == 0)
            server.stop(graceMilliseconds: 0)
        }
    }

    @Test func afterTheGraceTheRestIsCut() async throws {
        let kept = Inbox<HTTPExchange>()
        let handler = TestHandler { _, exchange in kept.add(exchange) }
        try await withServer(handler) { port, server in
            let parked = try RawClient(port: port)
            parked.send(Self.get)
            let begun = try RawClient(port: port)
            begun.send("GET /a HT")
            let exchange = try kept.next()
            server.stop(graceMilliseconds: 100)
            #expect(try parked.isClosed())
            #expect(try begun.isClosed())
            #expect(try handler.summaries.next().ending == .stopped)
            exchange.respond(HTTPResponse(status: 200))
        }
    }

    @Test func aStoppedServerLeavesNoDescriptorAndItsPortCanBeTaken() async throws {
        try await onThread {
            let child = try ServerProcess(descriptorsMax: 1000)
            let client = try RawClient(port: child.port)
            client.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try child.stop() == 0)
            #expect(try client.answer().status == 200)
            var options = HTTPServerOptions()
            options.port = child.port
            let server = HTTPServer(options: options, handler: TestHandler())
            try server.start()
            #expect(try RawClient(port: child.port).exchange(Self.get).status == 200)
            server.stop(graceMilliseconds: 0)
            #expect(throws: RawClient.Failure.self) { try RawClient(port: child.port) }
        }
    }

    @Test func aPortThatIsTakenIsAnError() async throws {
        try await withServer { port, server in
            var options = HTTPServerOptions()
            options.port = port
            let error = failure {
                try HTTPServer(options: options, handler: TestHandler()).start()
            }
            #expect(error?.code == .portTaken)
            #expect(error?.message.contains("\(port)") == true)
            let client = try RawClient(port: port)
            #expect(try client.exchange(Self.get).status == 200)
            let again = failure { try server.start() }
            #expect(again?.code == .alreadyStarted)
        }
    }

    @Test func anAddressThatIsNotOursIsAnError() {
        for host in ["192.0.2.1", "no such host"] {
            var options = HTTPServerOptions()
            options.host = host
            let error = failure {
                try HTTPServer(options: options, handler: TestHandler()).start()
            }
            #expect(error?.code == .badHost)
        }
    }
}
