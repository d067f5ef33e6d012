import Dispatch
import HTTPServer
import System
import Testing

/// Bodies that come and go piece by piece.
@Suite struct StreamTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A source that gives `total` bytes, a piece a pull, from another thread.
    private final class Source: HTTPBodySource {
        let byteCount: Int?
        let state: Lock<(remaining: Int, pulls: Int)>
        let failsAt: Int
        let cancellations = Inbox<Void>()
        private let queue = DispatchQueue(label: "source")

        init(total: Int, announced: Int?, failsAt: Int = -1) {
            byteCount = announced
            state = Lock((total, 0))
            self.failsAt = failsAt
        }

        func pull(bytesMax: Int, _ pull: HTTPBodyPull) {
            let (count, isLast, fails) = state.withLock { state in
                state.pulls += 1
                let count = min(bytesMax, state.remaining)
                state.remaining -= count
                return (count, state.remaining == 0, state.pulls == failsAt)
            }
            queue.async {
                if fails { return pull.fail() }
                let bytes = [UInt8](repeating: 0x61, count: count)
                if isLast { pull.end(bytes) } else { pull.send(bytes) }
            }
        }

        func cancelled() { cancellations.add(()) }

        /// Returns when every pull so far has its piece.
        func waitUntilGiven() { queue.sync {} }
    }

    private static func serving(_ source: Source) -> TestHandler {
        TestHandler { _, exchange in exchange.respond(HTTPResponse(status: 200, body: .stream(source))) }
    }

    /// A sink that keeps what came, and pauses after each piece when it shall.
    private final class Sink: HTTPBodySink {
        let bytes = Lock([UInt8]())
        /// Each with the bytes that had come with it and before.
        let flows = Inbox<(flow: HTTPBodyFlow, bytesCount: Int)>()
        let cancellations = Inbox<Void>()
        let pauses: Bool
        init(pauses: Bool) { self.pauses = pauses }

        func receive(_ piece: [UInt8], _ flow: HTTPBodyFlow) -> HTTPBodyDemand {
            let bytesCount = bytes.withLock { bytes in
                bytes += piece
                return bytes.count
            }
            flows.add((flow, bytesCount))
            return pauses ? .pause : .more
        }
        func cancelled() { cancellations.add(()) }
    }

    private static func taking(_ sink: Sink) -> TestHandler {
        TestHandler(
            { request, exchange in
                #expect(request.body.isEmpty && request.sink != nil)
                exchange.respond(HTTPResponse(status: 201))
            }, planning: { _ in .stream(to: sink) })
    }

    @Test func aClientMustHaveAStreamInTime() async throws {
        let source = Source(total: 1 << 50, announced: 1 << 50)
        let handler = Self.serving(source)
        let change: (inout HTTPServerOptions) -> Void = {
            $0.outputBytesPerSecondMin = 1
            $0.streamSecondsMax = 0.2
        }
        try await withServer(handler, change) { port, _ in
            let client = try RawClient(port: port)
            client.send(Self.get)
            // Reads all the time, and can't have all of it.
            while try !client.receive(bytesMax: 64 << 10).isEmpty {}
            #expect(try handler.summaries.next().ending == .tooSlow)
            try source.cancellations.next()
        }
    }

    @Test func aBodyOfUnknownLengthIsSentInChunks() async throws {
        let source = Source(total: 300_000, announced: nil)
        try await withServer(Self.serving(source)) { port, _ in
            let client = try RawClient(port: port)
            let answer = try client.exchange(Self.get)
            #expect(answer.headers["transfer-encoding"] == "chunked")
            #expect(answer.body.count == 300_000)
            // The connection is sound after it: an empty body follows.
            #expect(try client.exchange(Self.get).body.isEmpty)
        }
    }

    @Test func aBodyOfKnownLengthIsSentUnchanged() async throws {
        let source = Source(total: 300_000, announced: 300_000)
        let handler = Self.serving(source)
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            let answer = try client.exchange(Self.get)
            #expect(answer.headers["content-length"] == "300000")
            #expect(answer.body.count == 300_000)
            #expect(try handler.summaries.next().bytesOut > 300_000)
        }
    }

    @Test func http10GetsABodyOfUnknownLengthUntilTheConnectionEnds() async throws {
        let source = Source(total: 300_000, announced: nil)
        try await withServer(Self.serving(source)) { port, _ in
            let client = try RawClient(port: port)
            let answer = try client.exchange("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(answer.headers["connection"] == "close" && answer.headers["transfer-encoding"] == nil)
            #expect(answer.body.count == 300_000)
        }
    }

    @Test func aSourceThatFailsOrGivesAnotherLengthIsSeenByTheClient() async throws {
        for source in [
            Source(total: 200_000, announced: nil, failsAt: 2), Source(total: 100, announced: 101),
            Source(total: 101, announced: 100),
        ] {
            let handler = Self.serving(source)
            try await withServer(handler) { port, _ in
                let client = try RawClient(port: port)
                client.send(Self.get)
                #expect(throws: RawClient.Failure.self) { try client.answer() }
                #expect(try handler.summaries.next().ending == .unanswered)
                try source.cancellations.next()
            }
        }
    }

    @Test func aSourceIsNotAskedFasterThanTheClientReads() async throws {
        let source = Source(total: 1 << 30, announced: nil)
        let handler = TestHandler { request, exchange in
            if request.head.path == "/a" {
                exchange.respond(HTTPResponse(status: 200, body: .stream(source)))
            } else {
                TestHandler.echo(request, exchange)
            }
        }
        let pullsMax = (64 << 20) / 65536
        try await withServer(handler, { $0.loopCount = 1 }) { port, _ in
            do {
                let client = try RawClient(port: port, receiveBufferBytes: 4096)
                client.send(Self.get)
                _ = try client.receive(bytesMax: 100)
                let other = try RawClient(port: port)
                // Until the kernel's buffers are full, which may take some pulls. When the source has given what was
                // pulled, and the loop has answered others after that, the loop has pulled again if it wants more.
                var (before, pulls) = (-1, 0)
                while before != pulls, pulls < pullsMax {
                    before = pulls
                    source.waitUntilGiven()
                    for _ in 0..<2 {
                        #expect(try other.exchange("GET /b HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
                        #expect(try handler.summaries.next().ending == .answered)
                    }
                    pulls = source.state.withLock { $0.pulls }
                }
                #expect(pulls > 0 && pulls < pullsMax)
            }
            // The client left.
            try source.cancellations.next()
            #expect(try handler.summaries.next().ending == .clientLeft)
        }
    }

    @Test func aSourceIsNotAskedForAHead() async throws {
        let source = Source(total: 10, announced: 10)
        try await withServer(Self.serving(source)) { port, _ in
            let client = try RawClient(port: port)
            client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer(hasBody: false).headers["content-length"] == "10")
            try source.cancellations.next()
            #expect(source.state.withLock { $0.pulls } == 0)
        }
    }

    @Test func aSinkGetsTheWholeBody() async throws {
        let sink = Sink(pauses: false)
        try await withServer(Self.taking(sink)) { port, _ in
            let client = try RawClient(port: port)
            let body = (0..<500_000).map { UInt8(truncatingIfNeeded: $0) }
            client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
            let sender = Sender(client, body)
            #expect(try client.answer().status == 201)
            sender.wait()
            #expect(sink.bytes.withLock { $0 } == body)
            client.send(
                "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
            #expect(try client.answer().status == 201)
        }
    }

    @Test func aPausedSinkGetsNothingUntilItResumes() async throws {
        let sink = Sink(pauses: true)
        let change: (inout HTTPServerOptions) -> Void = {
            $0.bodySpanSeconds = 0.5
            $0.loopCount = 1
        }
        try await withServer(Self.taking(sink), change) { port, _ in
            let client = try RawClient(port: port)
            let body = [UInt8](repeating: 0x61, count: 32 << 20)
            client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
            let sender = Sender(client, body)
            var (flow, bytesCount) = try sink.flows.next()
            // The time that the sink takes is not the client's: another that is silent from now on is cut before it.
            let silent = try RawClient(port: port)
            silent.send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
            _ = try silent.receiveAll()
            #expect(sink.flows.count == 0)
            #expect(bytesCount <= 65536)
            flow.resume()
            while bytesCount < body.count {
                (flow, bytesCount) = try sink.flows.next()
                flow.resume()
            }
            #expect(try client.answer().status == 201)
            sender.wait()
        }
    }

    @Test func aSinkIsNotifiedOfAnIncompleteBody() async throws {
        for ending in ["", "GET / HTTP/1.1\r\n\r\n"] {
            let sink = Sink(pauses: false)
            try await withServer(Self.taking(sink)) { port, _ in
                let client = try RawClient(port: port)
                client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
                _ = try sink.flows.next()
                client.send(ending)
                client.sendEnd()
                try sink.cancellations.next()
            }
        }
    }

    @Test func aSinkMayRefuseInTheMiddle() async throws {
        let sink = Sink(pauses: true)
        try await withServer(Self.taking(sink)) { port, _ in
            let client = try RawClient(port: port)
            client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            try sink.flows.next().flow.refuse(HTTPResponse(status: 409))
            let answer = try client.answer()
            #expect(answer.status == 409 && answer.headers["connection"] == "close")
        }
    }
}
