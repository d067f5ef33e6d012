import Foundation
import HTTPClient
import System
import Testing

@Suite struct FailureTests {
    @Test func aPortWithoutAListenerIsCouldNotConnect() async {
        let listener = RawServer.listen(backlog: 1)
        let port = RawServer.port(of: listener)
        close(listener)
        let result = await HTTPClient().answer("http://127.0.0.1:\(port)/")
        #expect(result.code == .couldNotConnect)
    }

    @Test func aNameWithoutAnAddressIsCouldNotResolve() async {
        #expect(await HTTPClient().answer("http://no such name/").code == .invalidRequest)
        #expect(await HTTPClient().answer("http://nowhere.invalid/").code == .couldNotResolve)
    }

    @Test func aConnectionThatDoesNotComeAboutInTimeIsCouldNotConnect() async {
        // A listener that takes nobody: the kernel keeps one or two, and lets the next knock unanswered.
        let listener = RawServer.listen(backlog: 0)
        defer { close(listener) }
        let url = "http://127.0.0.1:\(RawServer.port(of: listener))/"
        let client = HTTPClient()
        var codes: [HTTPClientError.Code?] = []
        await withTaskGroup(of: HTTPClientError.Code?.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    await client.answer(
                        HTTPClientRequest(url: url, connectTimeoutSeconds: 0.2, timeoutSeconds: 1)
                    ).code
                }
            }
            for await code in group { codes.append(code) }
        }
        #expect(Set(codes) == [.couldNotConnect, .timedOut])
    }

    /// A server that sends its answer in pieces, so many milliseconds apart.
    private static func piecewise(_ pieces: Int, milliseconds: Int32) -> RawServer {
        RawServer { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(pieces)\r\n\r\n")
            for _ in 0..<pieces {
                guard !connection.hangsUp(withinMilliseconds: milliseconds), connection.send("x") else {
                    return
                }
            }
        }
    }

    @Test func silenceCountsFromTheLastByte() async throws {
        let server = Self.piecewise(12, milliseconds: 100)
        var request = HTTPClientRequest(url: server.url + "/", timeoutSeconds: 0)
        request.silenceSeconds = 1
        #expect(try await HTTPClient().answer(request).get().body.count == 12)
        request.silenceSeconds = 0.05
        #expect(await HTTPClient().answer(request).code == .timedOut)
        request.silenceSeconds = 60
        request.timeoutSeconds = 0.3
        #expect(await HTTPClient().answer(request).code == .timedOut)
    }

    @Test func aServerThatSaysNothingIsGivenUpAndSoIsTheWaitForAPlace() async {
        let server = RawServer.silent()
        var options = HTTPClientOptions()
        options.transfersMax = 1
        let client = HTTPClient(options: options)
        var request = HTTPClientRequest(url: server.url + "/", timeoutSeconds: 0)
        request.silenceSeconds = 0.1
        let asked = request
        let codes = await withTaskGroup(of: HTTPClientError.Code?.self) { group in
            for _ in 0..<3 { group.addTask { await client.answer(asked).code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == [.timedOut, .timedOut, .timedOut])
    }

    @Test func aSlowlySentBodyIsNoSilence() async throws {
        // A server that takes little at a time, so that most of the body waits here in the system's hands.
        let server = RawServer(receiveBytes: 16 << 10) { connection in
            guard connection.request(pauseMilliseconds: 20) != nil else { return }
            connection.answer("done")
        }
        var request = HTTPClientRequest(
            method: "POST", url: server.url + "/", body: [UInt8](repeating: 7, count: 6 << 20),
            timeoutSeconds: 0)
        request.silenceSeconds = 4
        #expect(try await HTTPClient().answer(request).get().status == 200)
    }

    @Test func anAnswerThatDoesNotComeInTimeIsTimedOut() async {
        let server = RawServer.silent()
        let request = HTTPClientRequest(url: server.url, timeoutSeconds: 0.1)
        #expect(await HTTPClient().answer(request).code == .timedOut)
        let trickle = RawServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForHangup()
        }
        let second = HTTPClientRequest(url: trickle.url, timeoutSeconds: 0.1)
        #expect(await HTTPClient().answer(second).code == .timedOut)
    }

    @Test func theWaitForAPlaceCountsAndEndsInTime() async {
        let server = RawServer.silent()
        let client = HTTPClient.patient(transfersMax: 1)
        async let first = client.answer(server.url)
        await server.hasConnections(1)
        let second = await client.answer(HTTPClientRequest(url: server.url, timeoutSeconds: 0.1))
        #expect(second.code == .timedOut)
        client.stop()
        #expect(await first.code == .stopped)
        #expect(server.connectionCount == 1)
    }

    @Test(
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        ]) func anAnswerThatBreaksOffIsCutShort(bytes: String) async
    {
        let server = RawServer { connection in
            _ = connection.request()
            connection.send(bytes)
        }
        let code: HTTPClientError.Code = bytes.isEmpty ? .noAnswer : .cutShort
        #expect(await HTTPClient().answer(server.url).code == code)
        let body = HTTPClientRequest(patient: server.url, method: "POST", body: [1, 2, 3])
        #expect(await HTTPClient().answer(body).code == code)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n",
    ])
    func whatIsNotHTTPIsNoAnswer(bytes: String) async {
        let server = RawServer { connection in
            _ = connection.request()
            connection.send(bytes)
        }
        let code = await HTTPClient().answer(server.url).code
        #expect(code == .invalidResponse || code == .cutShort, "\(code as Any)")
    }

    /// libcurl before 8.1 appends such a line to a header of the handle's last answer, which is freed.
    @Test func aFirstHeaderThatBeginsWithABlankIsNoPartOfTheLastAnswer() async throws {
        let long = String(repeating: "x", count: 500)
        let server = RawServer { connection in
            while let request = connection.request() {
                let header = request.target == "/whole" ? "X-Header: \(long)" : "\tX-Header: \(long)"
                connection.send("HTTP/1.1 200 OK\r\n\(header)\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let client = HTTPClient()
        for _ in 0..<50 {
            #expect(await client.answer(server.url + "/whole").code == nil)
            #expect(await client.answer(server.url + "/blank").code == .invalidResponse)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n\(String(repeating: "x", count: 0x400))\r\n",
        "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "x", count: 3000))\r\n\r\n",
    ]) func anAnswerBeyondItsLimitIsRefused(bytes: String) async {
        let server = RawServer { connection in
            _ = connection.request()
            connection.send(bytes)
            connection.waitForHangup()
        }
        var options = HTTPClientOptions()
        options.responseHeaderBytesMax = 2_000
        let request = HTTPClientRequest(url: server.url, responseBytesMax: 999)
        #expect(await HTTPClient(options: options).answer(request).code == .responseTooLarge)
    }

    @Test func whatCouldSmuggleARequestIsNotSent() async {
        let server = RawServer.echo()
        let client = HTTPClient()
        for request in [
            HTTPClientRequest(method: "GET /x", url: server.url), HTTPClientRequest(url: server.url + "/a b"),
            HTTPClientRequest(url: server.url + "/\r\nX: 1"), HTTPClientRequest(url: "file:///etc/hostname"),
            HTTPClientRequest(url: server.url, headers: [("X", "a\r\nY: b")]),
            HTTPClientRequest(url: server.url, headers: [("X\r\nY", "b")]),
        ] {
            #expect(await client.answer(request).code == .invalidRequest)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func moreThanMayWaitAreRefused() async {
        let server = RawServer.silent()
        let client = HTTPClient.patient(transfersMax: 2, waitingMax: 3)
        let codes = Lock<[HTTPClientError.Code?]>([])
        for _ in 0..<10 {
            client.send(HTTPClientRequest(patient: server.url)) { result in
                codes.withLock { $0.append(result.code) }
            }
        }
        #expect(codes.withLock { $0 } == Array(repeating: .tooManyWaiting, count: 5))
        client.stop()
        #expect(codes.withLock { $0.dropFirst(5) } == Array(repeating: .stopped, count: 5)[...])
    }
}
