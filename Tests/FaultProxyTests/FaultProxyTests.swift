import Foundation
import System
import Testing

@testable import FaultProxy

/// A tool that other tests believe must itself do what it says.
@Suite struct FaultProxyTests {
    @Test(arguments: [false, true])
    func whatIsPassedArrivesUnchangedOnOneConnection(isChunked: Bool) async throws {
        try await withProxy(isChunked: isChunked) { proxy, server in
            let client = try Client(port: proxy.port)
            #expect(client.exchange("one") == (isChunked ? "5\r\n1:one\r\n0\r\n\r\n" : "1:one"))
            #expect(client.exchange("").contains("2:"))
            #expect(server.received == ["one", ""])
            #expect(proxy.counts.connections == 1 && proxy.counts.passed == 2)
        }
    }

    @Test func aLostRequestNeverReachesTheServer() async throws {
        try await withProxy { proxy, server in
            proxy.plan { $0.number == 1 ? .loseRequest : .pass }
            #expect(ask(proxy, "one") == noReply)
            #expect(ask(proxy, "two") == "1:two")
            #expect(server.received == ["two"])
            #expect(proxy.counts.requestsLost == 1 && proxy.counts.passed == 1)
        }
    }

    @Test func aCutRequestIsNotWholeAtTheServer() async throws {
        try await withProxy { proxy, server in
            proxy.plan { _ in .cutRequest(afterBytes: 60) }
            #expect(ask(proxy, String(repeating: "x", count: 100)) == noReply)
            proxy.plan { _ in .pass }
            #expect(ask(proxy, "two") == "1:two")
            #expect(server.received == ["two"])
            #expect(proxy.counts.requestsCut == 1)
        }
    }

    @Test func aDroppedReplyWasDoneByTheServer() async throws {
        try await withProxy { proxy, server in
            proxy.plan { _ in .dropReply }
            let client = try Client(port: proxy.port)
            try client.send("one")
            #expect(client.rest() == "")
            #expect(server.received == ["one"])
            #expect(proxy.counts.repliesDropped == 1)
        }
    }

    @Test func aCutReplyEndsAfterItsBytes() async throws {
        try await withProxy { proxy, server in
            proxy.plan { _ in .cutReply(afterBytes: 20) }
            let client = try Client(port: proxy.port)
            try client.send("one")
            #expect(client.rest() == "HTTP/1.1 200 OK\r\nCon")
            #expect(server.received == ["one"])
            #expect(proxy.counts.repliesCut == 1)
        }
    }

    @Test func aDuplicatedRequestComesTwiceAndIsAnsweredOnce() async throws {
        try await withProxy { proxy, server in
            proxy.plan { $0.number == 1 ? .duplicateRequest : .pass }
            let client = try Client(port: proxy.port)
            #expect(client.exchange("one") == "1:one")
            #expect(client.exchange("two") == "3:two")
            #expect(server.received == ["one", "one", "two"])
            #expect(proxy.counts.requestsDuplicated == 1)
        }
    }

    @Test func aDelayedRequestIsOvertaken() async throws {
        try await withProxy { proxy, server in
            // One plan for all: the proxy may read the slow request after the others were answered.
            proxy.plan { exchange in
                switch exchange.path {
                // Far longer than the test: it ends when its client goes.
                case "/slow": .delayRequest(milliseconds: 100_000)
                case "/late": .delayRequest(milliseconds: 1)
                default: .pass
                }
            }
            let slow = try Client(port: proxy.port)
            try slow.send("slow", path: "/slow")
            #expect(ask(proxy, "fast") == "1:fast")
            #expect(try Client(port: proxy.port).exchange("late", path: "/late") == "2:late")
            #expect(proxy.counts.requestsDelayed == 1)
            #expect(server.received == ["fast", "late"])
        }
    }

    @Test func aWithheldReplyWaitsForItsReleaseOrItsEnd() async throws {
        try await withProxy { proxy, server in
            proxy.plan { $0.path == "/held" ? .withholdReply : .pass }
            let events = Lock<[String]>([])
            proxy.handle { event in
                guard case .replyArrived(let exchange, .withholdReply, let status) = event else { return }
                events.withLock { $0.append("\(exchange.path) \(exchange.pathNumber) \(status)") }
                // What others do meanwhile is done, and the reply is still here.
                #expect(ask(proxy, "other").hasSuffix(":other"))
                if exchange.pathNumber == 1 {
                    proxy.release(exchange.number)
                } else {
                    proxy.drop(exchange.number)
                }
            }
            let client = try Client(port: proxy.port)
            #expect(client.exchange("one", path: "/held") == "1:one")
            #expect(client.exchange("two", path: "/held") == noReply)
            #expect(events.withLock { $0 } == ["/held 1 200", "/held 2 200"])
            #expect(server.received == ["one", "other", "two", "other"])
            #expect(proxy.counts.repliesWithheld == 2)
        }
    }

    @Test func aServerThatWasStartedAgainIsReachedAtItsNewPort() async throws {
        try await onThread {
            let first = try CountingServer()
            let proxy = try FaultProxy(targetPort: first.port)
            defer { proxy.stop() }
            #expect(ask(proxy, "one") == "1:one")
            first.end()
            #expect(ask(proxy, "two") == noReply)
            #expect(proxy.counts.serverGone == 1)
            let second = try CountingServer()
            proxy.retarget(port: second.port)
            #expect(ask(proxy, "three") == "1:three")
            proxy.stop()
            second.end()
        }
    }

    @Test func refusedConnectionsAreRefusedUntilTheyAreAcceptedAgain() async throws {
        try await withProxy { proxy, _ in
            let client = try Client(port: proxy.port)
            #expect(client.exchange("one") == "1:one")
            proxy.refuseConnections()
            #expect(client.reply() == noReply)
            #expect(throws: ProxyError.self) { _ = try Client(port: proxy.port) }
            try proxy.acceptConnections()
            #expect(ask(proxy, "two") == "2:two")
        }
    }

    @Test func aSeedAloneDecidesTheFaults() {
        let first = SeededFaults(seed: 7)
        let second = SeededFaults(seed: 7)
        let faults = (0..<1000).map { _ in first.next() }
        #expect(faults == (0..<1000).map { _ in second.next() })
        #expect((600..<800).contains(faults.count { $0 == .pass }))
        second.end()
        #expect((0..<100).allSatisfy { _ in second.next() == .pass })
    }

    private func withProxy(
        isChunked: Bool = false, _ body: @escaping @Sendable (FaultProxy, CountingServer) throws -> Void
    ) async throws {
        try await onThread {
            let server = try CountingServer(isChunked: isChunked)
            let proxy = try FaultProxy(targetPort: server.port)
            defer {
                proxy.stop()
                server.end()
            }
            try body(proxy, server)
        }
    }
}
