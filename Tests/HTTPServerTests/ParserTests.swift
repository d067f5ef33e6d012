import HTTPServer
import Testing

/// What requests may look like, and how each one that may not is refused. Each text is parsed whole, cut in two at
/// every place, and byte by byte.
@Suite struct ParserTests {
    private func accept(
        _ text: String, _ path: String, method: String = "GET", query: [String] = [], body: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let parsed = Parsed(text)
        #expect(parsed.failure == nil, sourceLocation: sourceLocation)
        #expect(parsed.isWhole, sourceLocation: sourceLocation)
        #expect(parsed.requests.first?.method == method, sourceLocation: sourceLocation)
        #expect(parsed.requests.first?.path == path, sourceLocation: sourceLocation)
        #expect(parsed.requests.first?.query == query, sourceLocation: sourceLocation)
        #expect(parsed.requests.first?.body == body, sourceLocation: sourceLocation)
        #expect(Parsed.cutsThatMatter(Array(text.utf8)) == [], sourceLocation: sourceLocation)
    }

    private func refuse(
        _ status: Int, _ texts: [String], limits: HTTPParserLimits = HTTPParserLimits(),
        bodyBytesMax: Int = .max, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for text in texts {
            let parsed = Parsed(text, limits: limits, bodyBytesMax: bodyBytesMax)
            #expect(
                parsed.status == status, "\(text.debugDescription): \(parsed)", sourceLocation: sourceLocation
            )
            let cuts = Parsed.cutsThatMatter(Array(text.utf8), limits: limits, bodyBytesMax: bodyBytesMax)
            #expect(cuts == [], sourceLocation: sourceLocation)
        }
    }

    private func get(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n" }
    private func head(_ fields: String) -> String { "GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n" }
    private func post(_ fields: String, _ body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n\(body)"
    }
    private func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    // MARK: What is accepted

    @Test func wellFormedRequestsAreRead() {
        accept(get("/"), "/")
        accept(get("/a%20b/%C3%A4?x=1&y=%2F+%3D&z&=v"), "/a b/ä", query: ["x=1", "y=/+=", "z=", "=v"])
        accept(get("http://x?a=b"), "/", query: ["a=b"])
        accept(get("http://x/a?b=c"), "/a", query: ["b=c"])
        accept(get("http://x"), "/")
        accept("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "*", method: "OPTIONS")
        accept("\r\n" + get("/after-an-empty-line"), "/after-an-empty-line")
        accept(head("A:\t b \t"), "/")
        accept("GET / HTTP/1.1\r\nHost: \(String(repeating: "x", count: 260))\r\n\r\n", "/")
        accept("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "/")
        accept("GET / HTTP/1.0\r\n\r\n", "/")
        accept(post("Content-Length: 5", "hello"), "/", method: "POST", body: "hello")
        accept(post("content-length: 0"), "/", method: "POST")
        accept(
            post("transfer-encoding: Chunked", "5\r\nhello\r\n0\r\n\r\n"), "/", method: "POST", body: "hello")
        accept(chunked("5;a=b;c=\"d e\"\r\nhello\r\n00\r\n\r\n"), "/", method: "POST", body: "hello")
        accept(
            chunked("1\r\na\r\nA\r\n0123456789\r\n0\r\nX: y\r\nZ:\r\n\r\n"), "/", method: "POST",
            body: "a0123456789")
    }

    @Test func headerFieldsKeepTheirOrderAndAreFoundInAnyCase() throws {
        let text = head("Accept:  a,b \r\nX-Empty:\r\naccept: c")
        let parsed = Parsed(text)
        #expect(parsed.requests.first?.headers == ["Host:x", "Accept:a,b", "X-Empty:", "accept:c"])
        let head = HTTPRequestHead(
            method: "GET", target: "/", path: "/", headers: [("Accept", "a"), ("ACCEPT", "b")])
        #expect(head.header("accept") == "a")
        #expect(head.header("accep") == nil)
    }

    @Test func requestsFollowEachOtherInOneStream() {
        let text = post("Content-Length: 3", "abc") + chunked("3\r\ndef\r\n0\r\n\r\n") + get("/last")
        let parsed = Parsed(text)
        #expect(parsed.requests.map(\.body) == ["abc", "def", ""])
        #expect(parsed.requests.last?.path == "/last")
        #expect(Parsed.cutsThatMatter(Array(text.utf8)) == [])
    }

    @Test func aConnectionStaysAsTheVersionAndTheFieldSay() {
        func keepsAlive(_ text: String) -> Bool? { Parsed(text).requests.first?.keepsAlive }
        #expect(keepsAlive(get("/")) == true)
        #expect(keepsAlive(head("Connection: close")) == false)
        #expect(keepsAlive(head("Connection: x, Close ,y")) == false)
        #expect(keepsAlive("GET / HTTP/1.0\r\n\r\n") == false)
        #expect(keepsAlive("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n") == true)
        #expect(keepsAlive("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n") == false)
    }

    // MARK: Smuggling

    @Test func aBodyOfUnclearLengthIsRefused() {
        refuse(
            400,
            [
                post("Content-Length: 5\r\nContent-Length: 5", "hello"),
                post("Content-Length: 5\r\nContent-Length: 6", "hello"),
                post("Content-Length: 5, 5", "hello"), post("Content-Length: +5", "hello"),
                post("Content-Length: -5", "hello"), post("Content-Length: 0x5", "hello"),
                post("Content-Length: 5 5", "hello"), post("Content-Length:", "hello"),
                post("Content-Length: five", "hello"), post("Content-Length: 5.0", "hello"),
                post("Content-Length: 9223372036854775808"),
                post("Content-Length: 00000000000000000005", "hello"),
                post("Content-Length: ٥", "hello"),
                post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                post("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
                post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                post("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"),
                "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            ])
    }

    @Test func aTransferEncodingOtherThanChunkedIsNotImplemented() {
        refuse(
            501,
            [
                post("Transfer-Encoding: gzip"), post("Transfer-Encoding: gzip, chunked"),
                post("Transfer-Encoding: xchunked"), post("Transfer-Encoding: identity"),
                post("Transfer-Encoding:"), post("Transfer-Encoding: chunked;q=1"),
                post("Transfer-Encoding: \"chunked\""),
                post("Transfer-Encoding: \u{B}chunked".replacing("\u{B}", with: "x ")),
            ])
    }

    @Test func fieldsThatProxiesReadDifferentlyAreRefused() {
        refuse(
            400,
            [
                head("A : b"), head("A\t: b"), head(" A: b"), head("A: b\r\n c"), head("A: b\r\n\tc"),
                "GET / HTTP/1.1\r\n Host: x\r\n\r\n", head(": b"), head("A"), head("A b: c"), head("A(: b"),
                head("Ä: b"), head("A: \u{0}"), head("A: \u{1}"), head("A: \u{7F}"),
                head("A: b\rC: d"), head("A: b\nC: d"), head("A: b\r\r\nC: d"), head("A: b\u{0}c"),
                "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\n\n", "GET / HTTP/1.1\r\nHost: x\r\n\rX",
                "\r\n\r\n" + get("/"), "\n" + get("/"), "\r" + get("/"), " " + get("/"),
            ])
        let latin = Array("GET / HTTP/1.1\r\nHost: x\r\nA: ".utf8) + [0xE4] + Array("\r\n\r\n".utf8)
        #expect(Parsed([latin]).status == 400)
    }

    @Test func aRequestForNoOneHostIsRefused() {
        refuse(
            400,
            [
                "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: \(String(repeating: "x", count: 261))\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "GET / HTTP/1.1\r\nHost: x:\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x:y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x:123456\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "GET / HTTP/1.1\r\nHost: []\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", "GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET http://a@x/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET http:/// HTTP/1.0\r\n\r\n",
            ])
    }

    @Test func badChunksAreRefused() {
        refuse(
            400,
            [
                chunked("\r\n"), chunked("g\r\n"), chunked("0x5\r\nhello\r\n"), chunked("-5\r\nhello\r\n"),
                chunked("+5\r\nhello\r\n"), chunked(" 5\r\nhello\r\n"), chunked("5 \r\nhello\r\n"),
                chunked("5\nhello\r\n"), chunked("5\rhello"), chunked("5\r\nhelloX"), chunked("5\r\nhello\n"),
                chunked("5\r\nhello\r5"), chunked("5;a\nb\r\nhello\r\n"), chunked("5;a\u{0}\r\nhello\r\n"),
                chunked("000000005\r\nhello\r\n"), chunked("FFFFFFFFFFFFFFFFF\r\n"), chunked(";a\r\n"),
                chunked("5;" + String(repeating: "a", count: 300)),
                chunked(String(repeating: "1;\(String(repeating: "a", count: 250))\r\nx\r\n", count: 20)),
                chunked("0\r\nA : b\r\n\r\n"), chunked("0\r\n b\r\n\r\n"), chunked("0\r\nA: b\n\r\n"),
                chunked("0\r\nA: \u{0}\r\n\r\n"), chunked("0\r\n\n"), chunked("0\r\nGET / HTTP/1.1\r\n\r\n"),
            ])
        refuse(431, [chunked("0\r\nA: " + String(repeating: "b", count: 5000))])
    }

    // MARK: Request line

    @Test func badRequestLinesAreRefused() {
        refuse(
            400,
            [
                "GET\r\n", "GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "GET /  HTTP/1.1\r\n",
                "GET\t/\tHTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n", "G@T / HTTP/1.1\r\n", " / HTTP/1.1\r\n",
                "GET / http/1.1\r\n", "GET / HTTP/1\r\n", "GET / HTTP/1.1.1\r\n", "GET / HTTP/11\r\n",
                "GET / HTTP/1.x\r\n", "GET / XTTP/1.1\r\n", "GET / HTTP/ 1.1\r\n",
            ].map { $0 + "Host: x\r\n\r\n" })
        refuse(
            505,
            ["HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3.0"].map { "GET / \($0)\r\nHost: x\r\n\r\n" }
                + ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
        refuse(
            501,
            ["get", "BREW", "CONNECT", "TRACE", "GETT"].map { "\($0) / HTTP/1.1\r\nHost: x\r\n\r\n" })
        refuse(417, [head("Expect: 200-ok"), head("Expect: 100-continue\r\nExpect: 100-continue")])
        refuse(411, ["POST", "PUT", "PATCH"].map { "\($0) / HTTP/1.1\r\nHost: x\r\n\r\n" })
    }

    @Test func badTargetsAreRefused() {
        refuse(
            400,
            [
                "a", "*", "//".replacing("//", with: "x//"), "ftp://x/", "/a#b", "/\"", "/<a>", "/{a}",
                "/$}", "/${a", "/${a}}", "/${${a}}", "/{a}$", "/a?b=${c}", "/a|b",
                "/a\\b", "/^", "/`", "/ä", "/a?b=\"", "/a?b#c", "/%", "/%4", "/%4g", "/%g4", "/%%41",
                "/a?b=%",
                "/a?b=%zz", "/%00", "/a?b=%00", "/%0A", "/%0d", "/%7f", "/%1F", "/%2F", "/a%2fb", "/%5C",
                "/%ff",
                "/%C3", "/%C0%AF", "/%ED%A0%80", "/a?b=%ff", "/a?%C3=b",
            ].map(get))
    }

    @Test func aPathFullOfDotsIsRefused() {
        refuse(
            400,
            [
                "/.", "/..", "/./", "/../", "/a/..", "/a/./b", "/a/../b", "/...", "/....//", "/%2e",
                "/%2E%2e/",
                "/.%2e", "/a/%2e%2E", "http://x/..", "/" + String(repeating: "../", count: 100),
                "/..?a=b",
            ].map(get))
        accept(get("/a.b/.c/d./..e"), "/a.b/.c/d./..e")
        accept(get("/a?b=../.."), "/a", query: ["b=../.."])
    }

    // MARK: Limits

    @Test func whatIsLongerThanItsLimitIsRefused() {
        var limits = HTTPParserLimits()
        limits.targetBytesMax = 100
        limits.headerBytesMax = 400
        limits.headerCountMax = 5
        let long = String(repeating: "a", count: 99)
        #expect(Parsed(get("/\(long)"), limits: limits).isWhole)
        refuse(414, [get("/\(long)a"), "GET /\(long)\(long)"], limits: limits)
        refuse(431, [head("A: \(long)\r\nB: \(long)\r\nC: \(long)\r\nD: \(long)")], limits: limits)
        refuse(431, ["GET / HTTP/1.1\r\nA: \(long)\(long)\(long)\(long)"], limits: limits)
        #expect(Parsed(head("A:\r\nB:\r\nC:\r\nD:"), limits: limits).isWhole)
        refuse(431, [head("A:\r\nB:\r\nC:\r\nD:\r\nE:")], limits: limits)
        #expect(Parsed(chunked("5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"), bodyBytesMax: 10).isWhole)
        refuse(413, [chunked("5\r\nhello\r\n6\r\nworld!\r\n"), chunked("FFFFFFFF\r\n")], bodyBytesMax: 10)
    }

    @Test func tabsCountAgainstTheLimits() {
        var limits = HTTPParserLimits()
        limits.targetBytesMax = 100
        limits.headerBytesMax = 400
        let tabs = String(repeating: "\t", count: 1000)
        refuse(431, [head("X: a\(tabs)"), "GET / HTTP/1.1\r\nHost: x\r\nX:\(tabs)"], limits: limits)
        refuse(414, ["GET\(tabs)"], limits: limits)
    }
}
