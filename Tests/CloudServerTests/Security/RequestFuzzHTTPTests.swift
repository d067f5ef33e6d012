import CloudServer
import CloudWire
import Foundation
import RequestFuzz
import TestSeed
import Testing

/// The same requests as in `RequestFuzzTests`, over a socket.
@Suite struct RequestFuzzHTTPTests {
    private static let requests = 1_000

    @Test func whateverIsAskedOverHTTPNothingBreaks() async throws {
        let seed = TestSeed.value
        print("requests over HTTP: seed \(seed)")
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/PROTOCOL.md"), encoding: .utf8)
        let (findings, answered) = try await onThread {
            let world = try FuzzWorld(seed: seed)
            let server = CloudServer(world.service)
            try server.start()
            defer { server.stop() }
            var connection = try RawConnection(port: server.port)
            var run = FuzzRun(
                seed: seed, world: world, check: AnswerCheck(DocumentedErrors(page: page)))
            let ask = { (request: FuzzRequest) -> WireResponse in
                let response = try Self.send(try world.overHTTP(request), &connection, server.port)
                return WireResponse(status: response.status, headers: response.headers, body: response.body)
            }
            try run.run(requests: Self.requests, allowsRates: true, ask: ask)
            return (run.findings, run.statuses[200, default: 0])
        }
        #expect(findings == [], "seed \(seed)")
        #expect(answered > Self.requests / 5)
    }

    /// What breaks HTTP's own rules ends the connection with its answer.
    private static func send(
        _ request: WireRequest, _ connection: inout RawConnection, _ port: Int
    ) throws -> RawResponse {
        let response = try connection.exchange(
            request.method, request.rawTarget ?? "/", headers: request.headers, body: request.body)
        if response.header("Connection")?.lowercased() == "close" || response.status >= 400 {
            connection = try RawConnection(port: port)
        }
        return response
    }
}
