import HTTPServer
import Testing

/// What a client of the rules gets.
@Suite struct ServingTests {
    @Test func aRequestIsAnsweredAndTheConnectionStays() async throws {
        let handler = TestHandler()
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            for number in 0..<3 {
                let answer = try client.exchange(
                    "POST /a\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
                #expect(answer.status == 200)
                #expect(answer.text == "POST /a\(number) hello")
                #expect(answer.headers["x-request-id"]?.count == 36)
                let summary = try handler.summaries.next()
                #expect(summary.requestID == answer.headers["x-request-id"])
                #expect(summary.bytesIn == 5)
                #expect(summary.ending == .answered)
            }
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            client.send(
                (0..<50).map { "POST /\($0) HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n!" }.joined())
            for number in 0..<50 { #expect(try client.answer().text == "POST /\(number) !") }
        }
    }
}
