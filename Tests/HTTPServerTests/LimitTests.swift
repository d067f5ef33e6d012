import CLinux
import Foundation
import Glibc
import Testing
import Waiting

@testable import HTTPServer

/// Clients that are slow, many, greedy or silent.
@Suite struct LimitTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Sends a byte now and then until the connection is closed; returns how many bytes were sent.
    private static func drip(_ client: RawClient, _ bytes: [UInt8], everyMilliseconds: Int32) -> Int {
        for (index, byte) in bytes.enumerated() {
            client.send([byte])
            if client.waitUntilReadable(milliseconds: everyMilliseconds) { return index + 1 }
        }
        return bytes.count
    }

    /// What a new client is answered when the server has seen that another one left.
    private static func statusOnceThereIsRoom(_ port: Int) throws -> Int {
        for _ in 0..<1000 {
            let client = try RawClient(port: port)
            client.send(get)
            let status = try client.answer().status
            if status != 503 { return status }
        }
        return 503
    }

    @Test func aSlowHeadIsCut() async throws {
        let handler = TestHandler()
        try await withServer(handler, { $0.headerTimeoutSeconds = 0.3 }) { port, _ in
            let client = try RawClient(port: port)
            let head = Array(
                "GET /a HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 200))\r\n\r\n".utf8)
            #expect(Self.drip(client, head, everyMilliseconds: 20) < 100)
            #expect(try client.answer().status == 408)
            #expect(try client.isClosed())
            #expect(try handler.summaries.next().ending == .tooSlow)
        }
    }

    @Test func aSlowBodyIsCutAndAFastEnoughOneIsNot() async throws {
        let handler = TestHandler()
        let change: (inout HTTPServerOptions) -> Void = {
            $0.bodySpanSeconds = 0.5
            $0.bodyBytesPerSecondMin = 100
        }
        try await withServer(handler, change) { port, _ in
            let head = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n"
            let slow = try RawClient(port: port)
            slow.send(head)
            let body = [UInt8](repeating: 0x61, count: 2000)
            #expect(Self.drip(slow, body, everyMilliseconds: 25) < 1000)
            #expect(try slow.answer().status == 408)
            #expect(try slow.isClosed())
            #expect(try handler.summaries.next().ending == .tooSlow)

            // Longer than a span, and far above the speed that is asked.
            let steady = try RawClient(port: port)
            steady.send(head)
            for _ in 0..<50 {
                steady.send([UInt8](repeating: 0x61, count: 40))
                _ = steady.waitUntilReadable(milliseconds: 15)
            }
            #expect(try steady.answer().body.count == 2008)
        }
    }

    @Test func aBodyThatIsFastEnoughMustComeToAnEndAllTheSame() async throws {
        let handler = TestHandler()
        let change: (inout HTTPServerOptions) -> Void = {
            $0.bodySpanSeconds = 0.1
            $0.bodyBytesPerSecondMin = 1
            $0.bodySecondsMax = 0.3
        }
        try await withServer(handler, change) { port, _ in
            let steady = try RawClient(port: port)
            steady.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n")
            let body = [UInt8](repeating: 0x61, count: 2000)
            #expect(Self.drip(steady, body, everyMilliseconds: 10) < 1000)
            #expect(try steady.answer().status == 408)
            #expect(try handler.summaries.next().ending == .tooSlow)
        }
    }

    @Test func aConnectionWithoutARequestIsClosed() async throws {
        try await withServer(TestHandler(), { $0.idleTimeoutSeconds = 0.2 }) { port, _ in
            let silent = try RawClient(port: port)
            let idle = try RawClient(port: port)
            #expect(try idle.exchange(Self.get).status == 200)
            #expect(try silent.isClosed())
            #expect(try idle.isClosed())
        }
    }

    @Test func twoGigabytesAreRefusedAtOnce() async throws {
        let handler = TestHandler()
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            let text = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2147483648\r\n\r\n"
            #expect(try client.exchange(text).status == 413)
            #expect(try handler.summaries.next().bytesIn == 0)
            // Who sends on sees the answer all the same, and is cut in the end.
            let eager = try RawClient(port: port)
            eager.send(text)
            let sender = Sender(eager, [UInt8](repeating: 0x61, count: 64 << 20))
            #expect(try eager.answer().status == 413)
            sender.wait()
        }
    }

    @Test func aChunkedBodyIsRefusedWhereItPassesItsLimit() async throws {
        let handler = TestHandler(planning: { _ in .collect(bytesMax: 10) })
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            client.send(
                "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n")
            #expect(try client.answer().status == 413)
            #expect(try client.isClosed())
        }
    }

    @Test func oneConnectionTooManyGetsAnError() async throws {
        try await withServer(TestHandler(), { $0.connectionsMax = 3 }) { port, server in
            var clients = try (0..<3).map { _ in try RawClient(port: port) }
            for client in clients { #expect(try client.exchange(Self.get).status == 200) }
            let fourth = try RawClient(port: port)
            #expect(try fourth.answer().status == 503)
            #expect(try fourth.isClosed())
            #expect(try clients[0].exchange(Self.get).status == 200)
            // One that leaves makes room.
            clients.removeLast()
            #expect(try Self.statusOnceThereIsRoom(port) == 200)
        }
    }

    @Test func oneConnectionTooManyOfAnAddressGetsAnError() async throws {
        try await withServer(
            TestHandler(),
            {
                $0.connectionsOfAddressMax = 2
                $0.countsLoopbackConnections = true
            }
        ) { port, _ in
            var clients = try (0..<2).map { _ in try RawClient(port: port) }
            for client in clients { #expect(try client.exchange(Self.get).status == 200) }
            let third = try RawClient(port: port)
            let answer = try third.answer()
            #expect(answer.status == 503)
            #expect(try third.isClosed())
            clients.removeLast()
            #expect(try Self.statusOnceThereIsRoom(port) == 200, "one that leaves makes room")
        }
    }

    @Test func connectionsOfThisMachineAreNotCounted() async throws {
        try await withServer(TestHandler(), { $0.connectionsOfAddressMax = 1 }) { port, _ in
            let clients = try (0..<3).map { _ in try RawClient(port: port) }
            for client in clients { #expect(try client.exchange(Self.get).status == 200) }
        }
    }

    private static func network(_ text: String) -> ClientNetwork {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { raw in
            let isVersion6 = text.contains(":")
            raw.storeBytes(of: sa_family_t(isVersion6 ? AF_INET6 : AF_INET), as: sa_family_t.self)
            inet_pton(
                isVersion6 ? AF_INET6 : AF_INET, text, raw.baseAddress?.advanced(by: isVersion6 ? 8 : 4))
        }
        return ClientNetwork(storage)
    }

    @Test func anAddressIsItsNetworkAndTakesNoRoomOfOthers() {
        #expect(Self.network("2001:db8::1") == Self.network("2001:db8::ffff:2"))
        #expect(Self.network("2001:db8::1") != Self.network("2001:db8:0:1::1"))
        #expect(Self.network("::ffff:192.0.2.1") == Self.network("192.0.2.1"))
        #expect(
            ["127.0.0.1", "127.9.0.1", "::1", "::ffff:127.0.0.1"].allSatisfy { Self.network($0).isLoopback })
        #expect(!["128.0.0.1", "::2", "fe80::1"].contains { Self.network($0).isLoopback })
        for text in ["2001:db8::1", "192.0.2.1", "::ffff:192.0.2.1"] {
            #expect(ClientNetwork(text) == Self.network(text), "as a proxy tells it")
        }
        #expect(["", "unknown", "192.0.2.1:80", "[::1]"].allSatisfy { ClientNetwork($0) == nil })
        let counts = AddressCounts(max: 2, countsLoopback: false)
        let (one, other) = (Self.network("192.0.2.1"), Self.network("192.0.2.2"))
        #expect([one, one, one, other].map(counts.begin) == [true, true, false, true])
        for network in [one, one, other] { counts.end(network) }
        #expect(counts.count == 0)
        let unlimited = AddressCounts(max: 0, countsLoopback: true)
        #expect((0..<9).allSatisfy { _ in unlimited.begin(one) } && unlimited.count == 0)
    }

    @Test func oneNetworksBytesLeaveRoomForOthersAndElevenDontHoldAll() throws {
        let networks = try (0..<64).map { try #require(ClientNetwork("2001:db8:0:\($0)::1")) }
        let bodies = NetworkByteCounts(bytesMax: 256 << 20, sharesCount: 8, bytesOfNetworkMin: 2 << 20)
        let piece = 64 << 10
        for network in networks.prefix(11) {
            while bodies.take(piece, for: network) == .taken {}
            #expect(bodies.take(piece, for: network) == .shareIsFull)
        }
        // A request's whole body still finds room.
        for _ in 0..<32 { #expect(bodies.take(piece, for: networks[11]) == .taken) }
        bodies.giveBack(32 * piece, for: networks[11])
        for network in networks[11...] { while bodies.take(piece, for: network) == .taken {} }
        let held = bodies.byteCount
        #expect(held <= 256 << 20 && bodies.take(piece, for: networks[63]) != .taken)
        bodies.giveBack(2 << 20, for: networks[0])
        #expect(bodies.byteCount == held - 2 << 20)
    }

    @Test func addressesOfOneNetworkShareWhatWaitsToBeRead() throws {
        let output = NetworkByteCounts(bytesMax: 100, sharesCount: 1)
        let own = try ["2001:db8::1", "2001:db8::2"].map { try #require(ClientNetwork($0)) }
        #expect(output.take(50, for: own[0]) == .taken)
        #expect(output.take(50, for: own[1]) == .shareIsFull)
        #expect(output.take(50, for: try #require(ClientNetwork("192.0.2.1"))) == .taken)
        #expect(output.take(1, for: try #require(ClientNetwork("192.0.2.2"))) == .isFull)
        output.giveBack(50, for: own[1])
        #expect(output.networksCount == 1)
    }

    @Test func aClientThatDoesNotReadIsCut() async throws {
        let writes = Inbox<Bool>()
        let handler = TestHandler { _, exchange in
            let body = [UInt8](repeating: 0x61, count: 32 << 20)
            exchange.respond(HTTPResponse(status: 200, body: .bytes(body))) { writes.add($0) }
        }
        try await withServer(handler, { $0.outputSpanSeconds = 0.3 }) { port, _ in
            let client = try RawClient(port: port, receiveBufferBytes: 4096)
            client.send(Self.get)
            #expect(try writes.next() == false)
            let summary = try handler.summaries.next()
            #expect(summary.ending == .tooSlow && summary.bytesOut < 16 << 20)
            // One that reads gets it all.
            let reader = try RawClient(port: port)
            #expect(try reader.exchange(Self.get).body.count == 32 << 20)
            #expect(try writes.next() == true)
        }
    }

    @Test func aClientThatResetsLeavesNothingBehind() async throws {
        try await withServer { port, server in
            for text in [
                "", "GET", Self.get, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
            ] {
                let client = try RawClient(port: port)
                client.send(text)
                var abort = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    client.descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
            }
            // A connection without a request has no summary: only the server's count shows its end.
            try Polling.waitUntil { server.connectionCount == 0 }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func fiveThousandSilentConnectionsCostLittleAndOthersAreServed() async throws {
        try await onThread {
            try raiseDescriptorLimit()
            let server = try ServerProcess(descriptorsMax: 8000)
            _ = try RawClient(port: server.port).exchange(Self.get)
            let before = try server.residentBytes()
            var clients = [RawClient]()
            for index in 0..<5000 {
                let client = try RawClient(port: server.port)
                // A third says nothing, a third has begun a head, a third waits for an answer.
                if index % 3 == 1 { client.send("GET /never-ending HTTP/1.1\r\nHo") }
                if index % 3 == 2 { client.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n") }
                clients.append(client)
            }
            let other = try RawClient(port: server.port)
            for _ in 0..<100 { #expect(try other.exchange(Self.get).status == 200) }
            let bytes = try server.residentBytes() - before
            print("5,000 silent connections cost the server \(bytes / 5000) bytes each")
            #expect(bytes < 5000 * 4096)
            clients.removeAll()
            #expect(try other.exchange(Self.get).status == 200)
            #expect(try server.stop() == 0)
        }
    }

    @Test func withoutAFreeDescriptorTheServerContinuesAndDoesNotSpin() async throws {
        try await onThread {
            let server = try ServerProcess(descriptorsMax: 40)
            let first = try RawClient(port: server.port)
            #expect(try first.exchange(Self.get).status == 200)
            var clients = try (0..<100).map { _ in try RawClient(port: server.port) }
            #expect(try first.exchange(Self.get).status == 200)
            let ticks = try server.processorTicks()
            // Nothing happens for a while, except that the server tries again now and then.
            #expect(!first.waitUntilReadable(milliseconds: 1000))
            #expect(try server.processorTicks() - ticks < 6)
            // Those that wait are served when others leave.
            let last = clients[99]
            last.send(Self.get)
            clients.removeFirst(99)
            #expect(try last.answer().status == 200)
            #expect(try server.stop() == 0)
        }
    }
}

/// Lets this process have the thousands of sockets that a test needs.
func raiseDescriptorLimit() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 12_000))
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur >= 6000 else {
        throw RawClient.Failure(description: "this user may not have 6,000 open files (ulimit -Hn)")
    }
}
