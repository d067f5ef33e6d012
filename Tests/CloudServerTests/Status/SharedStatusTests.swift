import Dispatch
import HTTPServer
import System
import Testing

@testable import CloudServer

/// Answers each request with the health of a disk that is looked at only when as many have asked as are expected.
private final class HealthAlone: HTTPHandler {
    static let askersCount = 100

    let looks = Lock(0)
    private let asked = Lock(0)
    private let allAsked = DispatchSemaphore(value: 0)
    private let status: ServerStatus

    init() throws {
        let (looks, allAsked) = (looks, allAsked)
        let watch = DiskWatch(log: nil) { _ in
            looks.withLock { $0 += 1 }
            allAsked.wait()
            allAsked.signal()
            return nil
        }
        status = try ServerStatus(dataFolder: nil, watch: watch, clock: SystemTimeSource()).started()
    }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 0) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        status.answerHealth(Reply(exchange, request.head, .health), isStopping: false)
        let count = asked.withLock { asked in
            asked += 1
            return asked
        }
        if count == Self.askersCount { allAsked.signal() }
    }

    func stopping() {}

    func stop() { status.stop() }
}

@Suite struct SharedStatusTests {
    @Test func healthRequestsDuringADiskCheckShareOneMoreCheck() async throws {
        try await onThread {
            let handler = try HealthAlone()
            let server = HTTPServer(options: HTTPServerOptions(), handler: handler)
            try server.start()
            defer {
                server.stop(graceMilliseconds: 0)
                handler.stop()
            }
            let connections = try (0..<HealthAlone.askersCount).map { _ in
                try RawConnection(port: server.port)
            }
            for connection in connections {
                try connection.send(Array("GET /health HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
            }
            for connection in connections {
                let response = try connection.receive()
                #expect(response.status == 200 && response.text == #"{"status":"ok"}"#)
            }
            #expect((1...2).contains(handler.looks.withLock { $0 }))
        }
    }
}
