import CloudWire
import HTTPServer

/// What the log and the history record of a request beside what HTTP knows.
struct RequestNote: Sendable {
    /// The parsed path; nil until the request is routed.
    var route: Route?
    /// The client's address, if a trusted proxy reports it.
    var peer: String?
    var clientID: String?
    var userAgent: String?
    /// True for a device's poll that ended without a push.
    var isEmptyPoll = false
    /// The service's own note.
    var service = WireNote()
    /// Set for requests of the operator API with a session.
    var ofOperator: OperatorNote?
}

extension HTTPExchangeSummary {
    var note: RequestNote? { context as? RequestNote }

    var route: Route { note?.route ?? Route(path: path) }
}

/// Sends responses to one request in CloudKit's form.
struct Reply: Sendable {
    let exchange: HTTPExchange
    private let route: Route?
    private let origin: String?
    private let wantsExtras: Bool
    private let clientID: String?
    private let peer: String?
    private let userAgent: String?
    /// The history's note of an administrator's request. Set once the session is known.
    var ofOperator: OperatorNote?
    /// True to delay a 503 for lack of room, because repeated large bodies are expensive.
    private let holdsBusy: Bool
    /// Delay of a response that asks to retry later. It slows down clients that ignore it.
    private static let holdMilliseconds: Int64 = 1_000
    /// Minimum bytes of a large body.
    private static let heldBodyBytes = 4 << 10

    /// - Parameter peer: the client's address, if it isn't the connection's.
    init(
        _ exchange: HTTPExchange, _ head: HTTPRequestHead, _ route: Route, peer: String? = nil,
        bodyBytes: Int = 0
    ) {
        self.exchange = exchange
        self.route = route
        holdsBusy = bodyBytes >= Self.heldBodyBytes
        self.peer = peer
        origin = route.isCrossOrigin ? head.header(WireHeader.origin) : nil
        wantsExtras = head.header(WireHeader.client) == "1"
        clientID = head.queryValue(WireHeader.clientIDItem)
        userAgent = head.header("User-Agent")
    }

    /// The note of every response.
    private var note: RequestNote {
        RequestNote(
            route: route, peer: peer, clientID: clientID, userAgent: userAgent, ofOperator: ofOperator)
    }

    /// Sends the response of the service.
    func send(_ response: WireResponse) {
        var note = note
        note.service = response.note
        respond(
            status: response.status, headers: response.headers, body: response.body, note: note,
            refusesOrigin: response.note.refusesOrigin, mayBeAskedAgain: response.note.isRead)
    }

    /// Sends a message.
    func send(_ message: some JSONMessage, headers: [(name: String, value: String)] = []) {
        do {
            let body = try message.json(extras: wantsExtras)
            respond(status: 200, headers: Self.jsonHeaders + headers, body: body)
        } catch {
            send(error.wireError)
        }
    }

    /// Sends an error.
    func send(_ error: WireError) {
        send(error.response(requestID: exchange.requestID, extras: wantsExtras))
    }

    /// Sends a response that isn't JSON.
    func send(_ response: HTTPResponse) {
        var response = response
        if let origin { response.headers += Self.crossOriginHeaders(origin) }
        exchange.respond(response, context: note)
    }

    /// Makes the response to a request of any origin that is rejected before there is an exchange.
    static func response(_ error: WireError, to head: HTTPRequestHead) -> HTTPResponse {
        response(error, to: head, origin: head.header(WireHeader.origin))
    }

    /// - Parameter origin: the origin of the page that may read the response.
    static func response(_ error: WireError, to head: HTTPRequestHead, origin: String?) -> HTTPResponse {
        response(
            error.response(requestID: head.requestID, extras: head.header(WireHeader.client) == "1"),
            origin: origin)
    }

    static func response(_ response: WireResponse, origin: String? = nil) -> HTTPResponse {
        let headers = response.headers + ownHeaders + (origin.map(crossOriginHeaders) ?? [])
        return HTTPResponse(status: response.status, headers: headers, body: .bytes(response.body))
    }

    /// Sends encoded JSON.
    func sendJSON(
        _ body: [UInt8], status: Int = 200, written: (@Sendable (Bool) -> Void)? = nil
    ) {
        respond(status: status, headers: Self.jsonHeaders, body: body, written: written)
    }

    /// Sends an empty response with 200, at the end of a poll.
    func sendEmpty() {
        var note = note
        note.isEmptyPoll = true
        respond(status: 200, headers: Self.jsonHeaders, body: [], note: note)
    }

    /// Answers a CORS preflight.
    func sendPreflight(asked head: HTTPRequestHead) {
        var headers = [
            (name: "Access-Control-Allow-Methods", value: "GET, POST, OPTIONS"),
            (name: "Access-Control-Max-Age", value: "86400"),
        ]
        if let names = head.header("Access-Control-Request-Headers") {
            headers.append((name: "Access-Control-Allow-Headers", value: names))
        }
        respond(status: 204, headers: headers, body: [])
    }

    /// Sends an HTML page. It isn't cached and can't be framed.
    ///
    /// - Parameter policy: the content security policy.
    func sendPage(
        _ html: String, status: Int, policy: String, headers: [(name: String, value: String)] = []
    ) {
        let page = Self.page(html, status: status, policy: policy)
        respond(status: status, headers: page.headers + headers, body: Array(html.utf8))
    }

    static func page(_ html: String, status: Int, policy: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [(name: "Content-Type", value: "text/html; charset=utf-8")] + pageHeaders + [
                (name: "Content-Security-Policy", value: policy)
            ], body: .bytes(Array(html.utf8)))
    }

    /// Redirects the browser.
    func sendRedirect(to target: String) {
        respond(status: 303, headers: Self.pageHeaders + [(name: "Location", value: target)], body: [])
    }

    private static let pageHeaders = [
        (name: "Cache-Control", value: "no-store"), (name: "X-Frame-Options", value: "DENY"),
        (name: "X-Content-Type-Options", value: "nosniff"), (name: "Referrer-Policy", value: "same-origin"),
    ]

    /// Headers of all responses: a response may contain the next token, so it isn't cached, and its type isn't guessed.
    private static let ownHeaders = [
        (name: "Cache-Control", value: "no-store"), (name: "X-Content-Type-Options", value: "nosniff"),
    ]

    private static let jsonHeaders = [(name: "Content-Type", value: "application/json; charset=UTF-8")]

    private func respond(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], note: RequestNote? = nil,
        refusesOrigin: Bool = false, mayBeAskedAgain: Bool = false,
        written: (@Sendable (Bool) -> Void)? = nil
    ) {
        var headers = headers
        if !headers.contains(where: { $0.name == "Cache-Control" }) { headers += Self.ownHeaders }
        if let origin { headers += refusesOrigin ? [("Vary", "Origin")] : Self.crossOriginHeaders(origin) }
        var response = HTTPResponse(status: status, headers: headers, body: .bytes(body))
        response.mayBeAskedAgain = mayBeAskedAgain
        if status == 429 || status == 503 && holdsBusy { response.holdMilliseconds = Self.holdMilliseconds }
        exchange.respond(
            response, context: note ?? self.note, written: written)
    }

    /// Lets the page read the response, as Apple's servers do. No cookie authenticates here, so the page gets nothing
    /// that it couldn't request by itself.
    private static func crossOriginHeaders(_ origin: String) -> [(name: String, value: String)] {
        [
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Credentials", "true"),
            (
                "Access-Control-Expose-Headers",
                "X-Apple-Request-UUID, X-Responding-Instance, Via, X-Apple-CloudKit-Web-Auth-Token, "
                    + "Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Yap-Protocol"
            ),
            ("Vary", "Origin"),
        ]
    }
}
