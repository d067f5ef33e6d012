import Foundation
import HTTPServer
import System
import Testing

/// Clients that would take a loop's time or the server's memory for themselves.
@Suite struct GreedyTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let head = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 80000\r\n\r\n"

    @Test func aClientThatPipelinesDoesNotKeepOthersWaiting() async throws {
        let hasBegun = Inbox<Void>()
        let mayGoOn = DispatchSemaphore(value: 0)
        let before = Lock(0)
        let found = Inbox<Int>()
        let handler = TestHandler { request, exchange in
            if request.head.path == "/other" { found.add(before.withLock { $0 }) }
            let count = before.withLock { count in
                count += 1
                return count
            }
            // Holds the loop until there is somebody else.
            if count == 1 {
                hasBegun.add(())
                mayGoOn.wait()
            }
            TestHandler.echo(request, exchange)
        }
        try await withServer(handler, { $0.loopCount = 1 }) { port, _ in
            let greedy = try RawClient(port: port)
            let sender = Sender(greedy, Array(String(repeating: Self.get, count: 2000).utf8))
            try hasBegun.next()
            let other = try RawClient(port: port)
            other.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
            mayGoOn.signal()
            #expect(try other.answer().status == 200)
            #expect(try found.next() < 200, "requests that went before")
            for _ in 0..<2000 { #expect(try greedy.answer().status == 200) }
            sender.wait()
        }
    }

    @Test func bodiesOfAllConnectionsTogetherHaveALimit() async throws {
        let change: (inout HTTPServerOptions) -> Void = {
            $0.loopCount = 1
            $0.bodyBytesOfAllMax = 100_000
        }
        try await withServer(TestHandler(), change) { port, _ in
            let piece = [UInt8](repeating: 0x61, count: 60_000)
            let rest = [UInt8](repeating: 0x61, count: 20_000)
            /// Begins a body; the loop has read what was sent when it has answered somebody who asked after that.
            func begin() throws -> RawClient {
                let client = try RawClient(port: port)
                client.send(Array(Self.head.utf8) + piece)
                #expect(try RawClient(port: port).exchange(Self.get).status == 200)
                return client
            }
            for _ in 0..<3 {
                let first = try begin()
                let second = try begin()
                let refused = try second.answer()
                #expect(refused.status == 503)
                first.send(rest)
                #expect(try first.answer().body.count == 80_008)
                // One that leaves in the middle gives its share back.
                var third: RawClient? = try begin()
                #expect(third != nil)
                third = nil
                var status = 503
                for _ in 0..<1000 where status == 503 {
                    let fourth = try RawClient(port: port)
                    fourth.send(Array(Self.head.utf8) + piece + rest)
                    status = try fourth.answer().status
                }
                #expect(status == 200)
            }
        }
    }

    @Test func bodiesOfOneNetworkLeaveRoomForOthersBehindAProxyToo() async throws {
        let change: (inout HTTPServerOptions) -> Void = {
            $0.loopCount = 1
            $0.bodyBytesOfAllMax = 24 << 20
        }
        let handler = TestHandler(
            planning: { _ in .collect(bytesMax: 4 << 20) }, client: { $0.header("X-Forwarded-For") })
        try await withServer(handler, change) { port, _ in
            let piece = [UInt8](repeating: 0x61, count: 2_300 << 10)
            func begin(_ address: String) throws -> RawClient {
                let client = try RawClient(port: port)
                let head =
                    "POST /a HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(address)\r\n"
                    + "Content-Length: \(piece.count + 1)\r\n\r\n"
                client.send(Array(head.utf8) + piece)
                return client
            }
            let pair = [try begin("2001:db8::1"), try begin("2001:db8::2")]
            var refused: RawClient?
            while refused == nil { refused = pair.first { $0.waitUntilReadable(milliseconds: 5) } }
            let answer = try #require(try refused?.answer())
            #expect(answer.status == 503 && answer.text.contains("from your network"))
            let other = try begin("2001:db8:0:1::1")
            other.send([0x61])
            #expect(try other.answer().status == 200)
        }
    }

    @Test func unreadResponsesHaveATotalLimit() async throws {
        let handler = TestHandler { request, exchange in
            var response = HTTPResponse(
                status: 200, body: .bytes([UInt8](repeating: 0x61, count: 16 << 20)))
            response.mayBeAskedAgain = request.head.path == "/read"
            exchange.respond(response)
        }
        let change: (inout HTTPServerOptions) -> Void = {
            $0.loopCount = 1
            $0.outputBytesOfAllMax = 24 << 20
        }
        try await withServer(handler, change) { port, _ in
            let read = "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
            var silent: RawClient? = try RawClient(port: port, receiveBufferBytes: 4096)
            silent?.send(read)
            #expect(silent?.waitUntilReadable(milliseconds: 30_000) == true)
            // No room: who may ask again is told to, and another sees no answer.
            let refused = try RawClient(port: port).exchange(read)
            #expect(refused.status == 503)
            let write = try RawClient(port: port)
            write.send("GET /write HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try write.isClosed())
            // One that leaves gives its share back.
            silent = nil
            var status = 503
            for _ in 0..<1000 where status == 503 {
                status = try RawClient(port: port).exchange(read).status
            }
            #expect(status == 200)
        }
    }

    @Test func anExchangeThatIsDroppedWhenItsClientLeftIsNoErrorOfTheServer() async throws {
        let kept = Inbox<HTTPExchange>()
        let left = Inbox<Void>()
        let handler = TestHandler { _, exchange in
            exchange.onDisconnect { left.add(()) }
            kept.add(exchange)
        }
        try await withServer(handler) { port, _ in
            var client: RawClient? = try RawClient(port: port)
            client?.send(Self.get)
            var exchange: HTTPExchange? = try kept.next()
            #expect(exchange != nil)
            client?.sendEnd()
            try left.next()
            exchange = nil
            let summary = try handler.summaries.next()
            #expect(summary.ending == .clientLeft && summary.status == 0)
            client = nil
        }
    }

    @Test func aRefusedPlanWithoutABodyLeavesTheConnectionBetweenRequests() async throws {
        let handler = TestHandler(planning: { _ in .refuse(HTTPResponse(status: 404)) })
        try await withServer(handler, { $0.idleTimeoutSeconds = 0.2 }) { port, _ in
            let client = try RawClient(port: port)
            #expect(try client.exchange(Self.get).status == 404)
            // No answer to a request that was never made.
            #expect(try client.isClosed())
        }
    }
}
