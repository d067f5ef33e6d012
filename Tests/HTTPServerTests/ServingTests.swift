import HTTPServer
import Testing

/// What a client that keeps the rules gets.
@Suite struct ServingTests {
    @Test func aRequestIsAnsweredAndTheConnectionStays() async throws {
        let handler = TestHandler()
        try await withServer(handler) { port, server in
            let client = try RawClient(port: port)
            for number in 0..<3 {
                let answer = try client.exchange(
                    "POST /a\(number)?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
                #expect(answer.status == 200)
                #expect(answer.text == "POST /a\(number) hello")
                #expect(answer.headers["connection"] == nil)
                #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
                let summary = try handler.summaries.next()
                #expect(summary.requestID == answer.headers["x-request-id"])
                #expect(summary.requestID.count == 36)
                #expect(summary.method == "POST" && summary.path == "/a\(number)" && summary.status == 200)
                #expect(summary.bytesIn == 5 && summary.bytesOut > 100 && summary.peer == "127.0.0.1")
                #expect(summary.ending == .answered)
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func aRequestMayComeByteByByte() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            let text =
                "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            for byte in text.utf8 { client.send([byte]) }
            #expect(try client.answer().text == "POST /a abc")
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        let slow = Inbox<(String, HTTPExchange)>()
        let handler = TestHandler { request, exchange in slow.add((request.head.path, exchange)) }
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            client.send(
                (0..<50).map { "POST /\($0) HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n!" }.joined())
            for number in 0..<50 {
                let (path, exchange) = try slow.next()
                #expect(path == "/\(number)")
                // No other request of the connection is in flight meanwhile.
                #expect(slow.count == 0)
                exchange.respond(HTTPResponse(status: 200, body: .bytes(Array(path.utf8))))
            }
            for number in 0..<50 { #expect(try client.answer().text == "/\(number)") }
        }
    }

    @Test func manyMegabytesOfPipelinedRequestsAreAllAnswered() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            let body = String(repeating: "x", count: 1 << 18)
            let request = "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let requests = Array(String(repeating: request, count: 40).utf8)
            let sender = Sender(client, requests)
            for _ in 0..<40 { #expect(try client.answer().body.count == body.utf8.count + 8) }
            sender.wait()
        }
    }

    @Test func headGetsTheHeadOnly() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.answer(hasBody: false)
            #expect(answer.headers["content-length"] == "8")
            #expect(try client.exchange("GET /b HTTP/1.1\r\nHost: x\r\n\r\n").text == "GET /b ")
        }
    }

    @Test func connectionsCloseAtTheRequestOfEitherSide() async throws {
        let handler = TestHandler { request, exchange in
            let headers = request.head.path == "/close" ? [(name: "Connection", value: "Close")] : []
            exchange.respond(HTTPResponse(status: 200, headers: headers, body: .bytes([0x61])))
        }
        try await withServer(handler) { port, _ in
            for text in [
                "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "GET /close HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.0\r\n\r\n",
            ] {
                let client = try RawClient(port: port)
                let answer = try client.exchange(text)
                #expect(answer.text == "a" && answer.headers["connection"] == "close")
                #expect(try client.isClosed())
            }
            let client = try RawClient(port: port)
            let answer = try client.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(answer.headers["connection"] == "keep-alive")
            #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
        }
    }

    @Test func aClientThatExpectsItGetsContinue() async throws {
        try await withServer { port, _ in
            let client = try RawClient(port: port)
            client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.answer().status == 100)
            #expect(try client.exchange("hello").text == "POST /a hello")
            // One that sends the body at once is not.
            let answer = try client.exchange(
                "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n!")
            #expect(answer.text == "POST /b !")
            // One whose body is too long gets the refusal instead.
            client.send(
                "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.answer().status == 413)
        }
    }

    @Test func aConnectionHasSoManyRequests() async throws {
        try await withServer(TestHandler(), { $0.requestsPerConnectionMax = 2 }) { port, _ in
            let client = try RawClient(port: port)
            let text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            #expect(try client.exchange(text).headers["connection"] == nil)
            #expect(try client.exchange(text).headers["connection"] == "close")
            #expect(try client.isClosed())
        }
    }

    @Test func aBadRequestGetsTheHandlersErrorAndTheConnectionCloses() async throws {
        let handler = TestHandler()
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            let answer = try client.exchange(
                "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /"
            )
            #expect(answer.status == 400)
            #expect(answer.text == "{\"reason\":\"Content-Length together with Transfer-Encoding\"}")
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["connection"] == "close")
            #expect(try client.isClosed())
            let summary = try handler.summaries.next()
            #expect(summary.ending == .refused && summary.status == 400)
            #expect(summary.requestID == answer.headers["x-request-id"])
        }
    }

    @Test func aPlanMayRefuse() async throws {
        let handler = TestHandler(planning: { _ in .refuse(HTTPResponse(status: 404)) })
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 404)
            #expect(
                try client.exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n").status == 404)
            #expect(try client.isClosed())
        }
    }

    @Test func anAnswerCannotBreakOutOfItsHeader() async throws {
        let handler = TestHandler { request, exchange in
            let headers = [
                (name: "A", value: request.head.queryValue("v") ?? ""), (name: "Content-Length", value: "99"),
                (name: "Transfer-Encoding", value: "chunked"),
            ]
            exchange.respond(HTTPResponse(status: 200, headers: headers, body: .bytes([0x61])))
        }
        try await withServer(handler) { port, _ in
            let client = try RawClient(port: port)
            let good = try client.exchange("GET /?v=b HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(good.headers["a"] == "b" && good.headers["transfer-encoding"] == nil && good.text == "a")
            let bad = try client.exchange("GET /?v=b%0D%0AC:d HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(bad.status == 500 && bad.headers["c"] == nil)
        }
    }

    @Test func theDateIsRight() {
        #expect(HTTPDate.text(secondsSince1970: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(secondsSince1970: 951_827_696) == "Tue, 29 Feb 2000 12:34:56 GMT")
        #expect(HTTPDate.text(secondsSince1970: 4_107_542_399) == "Sun, 28 Feb 2100 23:59:59 GMT")
        #expect(HTTPDate.text(secondsSince1970: 4_107_542_400) == "Mon, 01 Mar 2100 00:00:00 GMT")
    }
}
