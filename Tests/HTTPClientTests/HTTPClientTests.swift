import Foundation
import HTTPClient
import System
import Testing

extension HTTPClient {
    /// A client whose connections are kept as long as a slow machine takes.
    static func patient(transfersMax: Int = 64, waitingMax: Int = 4_000) -> HTTPClient {
        var options = HTTPClientOptions()
        options.idleSecondsMax = 3_600
        options.transfersMax = transfersMax
        options.waitingMax = waitingMax
        return HTTPClient(options: options)
    }

    /// The answer, without holding a thread meanwhile.
    func answer(_ request: HTTPClientRequest) async -> Result<HTTPClientResponse, HTTPClientError> {
        await withCheckedContinuation { continuation in
            send(request) { continuation.resume(returning: $0) }
        }
    }

    func answer(_ url: String) async -> Result<HTTPClientResponse, HTTPClientError> {
        await answer(HTTPClientRequest(patient: url))
    }
}

extension HTTPClientRequest {
    /// A request that waits as long as a slow machine takes.
    init(patient url: String, method: String = "GET", body: [UInt8] = []) {
        self.init(method: method, url: url, body: body, connectTimeoutSeconds: 3_600, timeoutSeconds: 3_600)
    }
}

extension Result where Success == HTTPClientResponse, Failure == HTTPClientError {
    var text: String? { (try? get()).map { String(decoding: $0.body, as: UTF8.self) } }
    var code: HTTPClientError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}

@Suite struct HTTPClientTests {
    @Test func aRequestArrivesAsItWasMadeAndItsAnswerComesBackWhole() async throws {
        let server = RawServer { connection in
            while connection.request() != nil {
                connection.send(
                    "HTTP/1.1 201 Created\r\nX-One: a\r\nx-two:  b c \r\nContent-Length: 5\r\n\r\nh\u{e9}\0!")
            }
        }
        let client = HTTPClient.patient()
        let request = HTTPClientRequest(
            method: "POST", url: "\(server.url)/a/../b%20c?x=1%2B2&y=%2F",
            headers: [("Content-Type", "application/json"), ("X-Empty", ""), ("X-Mine", "1")],
            body: Array("{\"a\":1}".utf8))
        let response = try await client.answer(request).get()
        #expect(response.status == 201)
        #expect(response.header("x-one") == "a" && response.header("X-Two") == "b c")
        #expect(response.body == Array("h\u{e9}\0!".utf8))
        let seen = try #require(server.requests.first)
        #expect(seen.requestLine == "POST /a/../b%20c?x=1%2B2&y=%2F HTTP/1.1")
        #expect(seen.body == request.body)
        #expect(seen.header("Content-Type") == "application/json" && seen.header("X-Mine") == "1")
        #expect(seen.header("X-Empty") == "")
        #expect(seen.header("Host") == "127.0.0.1:\(server.port)")
        #expect(seen.header("Expect") == nil && seen.header("Transfer-Encoding") == nil)
    }

    @Test(arguments: ["GET", "DELETE", "PUT", "HEAD"]) func otherMethodsGoOutAsTheyAreNamed(method: String)
        async throws
    {
        let server = RawServer { connection in
            while connection.request() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let client = HTTPClient.patient()
        let body: [UInt8] = method == "PUT" ? [1, 2, 3] : []
        let request = HTTPClientRequest(method: method, url: server.url + "/x", body: body)
        #expect(try await client.answer(request).get().status == 200)
        #expect(server.requests.map(\.requestLine) == ["\(method) /x HTTP/1.1"])
        #expect(server.requests.first?.body == body)
    }

    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        let server = RawServer.echo()
        let client = HTTPClient.patient()
        for number in 0..<20 {
            #expect(await client.answer("\(server.url)/\(number)").text == "/\(number)")
        }
        #expect(server.connectionCount == 1)
    }

    @Test func aKeptConnectionThatTheServerClosedIsReplaced() async throws {
        let server = RawServer { connection in
            guard let request = connection.request() else { return }
            connection.answer(request.target)
        }
        let client = HTTPClient.patient()
        for number in 0..<5 { #expect(await client.answer("\(server.url)/\(number)").text == "/\(number)") }
        #expect(server.requests.count == 5)
    }

    @Test func aRequestWithABodyIsNeverSentTwice() async throws {
        // The second request arrives on the kept connection, which then ends without an answer.
        let server = RawServer { connection in
            guard let first = connection.request() else { return }
            connection.answer(first.target)
            if connection.number == 1 { _ = connection.request() }
        }
        let client = HTTPClient.patient()
        func post(_ name: String) async -> Result<HTTPClientResponse, HTTPClientError> {
            await client.answer(
                HTTPClientRequest(
                    patient: "\(server.url)/\(name)", method: "POST", body: Array("body".utf8)))
        }
        #expect(await post("1").text == "/1")
        #expect(await post("2").code == .noAnswer)
        #expect(server.requests.map(\.target) == ["/1", "/2"])
        #expect(await post("3").text == "/3")
    }

    @Test func aRedirectIsAnAnswerLikeAnyOther() async throws {
        let server = RawServer { connection in
            while connection.request() != nil {
                connection.send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let client = HTTPClient.patient()
        let response = try await client.answer(server.url + "/here").get()
        #expect(response.status == 302 && response.header("Location") == "/elsewhere")
        #expect(server.requests.count == 1)
    }

    @Test func anInterimAnswerIsNotTheAnswer() async throws {
        let server = RawServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
            connection.answer("whole")
        }
        let response = try await HTTPClient.patient().answer(server.url).get()
        #expect(response.status == 200 && response.header("Link") == nil)
    }

    @Test func aProxyOfTheEnvironmentIsNotUsed() async throws {
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://127.0.0.1:1", 1)
            setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
            let server = RawServer.echo()
            exit(await HTTPClient.patient().answer(server.url + "/x").text == "/x" ? 0 : 1)
        }
    }

    @Test func anAnswerThatComesByteByByteIsWhole() async throws {
        let server = RawServer { connection in
            while connection.request() != nil {
                for byte
                    in "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
                    .utf8
                {
                    connection.send([byte])
                }
            }
        }
        let client = HTTPClient.patient()
        #expect(await client.answer(server.url).text == "abcde")
        #expect(await client.answer(server.url).text == "abcde")
        #expect(server.connectionCount == 1)
    }

    @Test func manyRequestsAtOnceEachGetTheirAnswer() async throws {
        let server = RawServer.echo()
        let client = HTTPClient.patient(transfersMax: 8)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask { await client.answer("\(server.url)/\(number)").text == "/\(number)" }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(server.connectionCount <= 8)
    }

    @Test func bodiesAreGivenAndTakenPieceByPiece() async throws {
        let server = RawServer { connection in
            while let request = connection.request() {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
                connection.send(request.body)
            }
        }
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let pieces = Pieces(bytes)
        var request = HTTPClientRequest(method: "POST", url: server.url)
        request.upload = pieces
        request.download = pieces
        let response = try await HTTPClient.patient().answer(request).get()
        #expect(response.body.isEmpty)
        #expect(pieces.received == bytes)
        pieces.fails.withLock { $0 = true }
        #expect(await HTTPClient.patient().answer(request).code == .bodyFailed)
    }
}

/// A body in memory that is given and taken in pieces.
private final class Pieces: HTTPUpload, HTTPDownload {
    struct Failed: Error {}
    let byteCount: Int
    let fails = Lock(false)
    private let bytes: [UInt8]
    private let state = Lock((sentCount: 0, received: [UInt8]()))

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        byteCount = bytes.count
    }

    var received: [UInt8] { state.withLock { $0.received } }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if fails.withLock({ $0 }) { throw Failed() }
        return state.withLock { state in
            let count = min(buffer.count, 10_000, bytes.count - state.sentCount)
            buffer.copyBytes(from: bytes[state.sentCount..<state.sentCount + count])
            state.sentCount += count
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        state.withLock { $0.received += bytes }
    }
}
