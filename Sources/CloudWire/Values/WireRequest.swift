/// A request as it crosses the wire, without a socket.
package struct WireRequest: Sendable {
    /// `GET` or `POST`.
    package var method: String
    /// The path, percent-decoded: `/database/1/{container}/{environment}/{database}/records/modify`.
    package var path: String
    /// The query's items in order, percent-decoded.
    package var query: [(name: String, value: String)]
    /// The headers in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// The server's own name for the request, which an error's `uuid` repeats. Not on the wire.
    package var requestID: String?
    /// What the client calls the server, as `http://127.0.0.1:8080`; the courier's URL begins with it. Not on the wire.
    package var serverURL: String?
    /// The path with its query as it was received, before anything was decoded: what a server's signature is over.
    package var rawTarget: String?
    /// The client's address, for limits on clients that don't sign in. Not on the wire.
    package var peer: String?
    /// True if the server wants a detail in the response's note. Not on the wire.
    package var isTraced = false
    /// `path` as the server has parsed it; nil if it hasn't. Not on the wire.
    package var parsedPath: ServicePath?

    /// Makes a request.
    package init(
        method: String = "POST", path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = [], requestID: String? = nil,
        serverURL: String? = nil, rawTarget: String? = nil, peer: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.requestID = requestID
        self.serverURL = serverURL
        self.rawTarget = rawTarget
        self.peer = peer
    }

    /// The first header of that name, whatever its case.
    package func header(_ name: String) -> String? { firstHeader(name, in: headers) }

    /// The first query item of that name.
    package func queryItem(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// True if the sender is one of our own clients and understands the extra keys.
    package var wantsExtras: Bool { header(WireHeader.client) == "1" }
}

/// What an operator's log tells of a response. Not on the wire.
package struct WireNote: Hashable, Sendable {
    /// The record name of the caller.
    package var userRecordName: String?
    /// The code of a request that failed as a whole.
    package var errorCode: String?
    /// How many records of a request that was answered were refused, by the code of each.
    package var recordErrors: [String: Int] = [:]
    /// How many writes shared the commit that the request waited for; 0 when it waited for none.
    package var groupRequests = 0
    /// The page that asked is of an origin that its app doesn't name: it may not read the response.
    package var refusesOrigin = false

    /// True if the request has only read, so that it can be asked again.
    package var isRead = false
    /// What a request history tells of it; nil when the request wasn't traced.
    package var detail: WireDetail? {
        get { boxedDetail.first }
        set { boxedDetail = newValue.map { [$0] } ?? [] }
    }

    // In an array, so that answers without one are no larger.
    private var boxedDetail: [WireDetail] = []

    /// Makes a note that tells nothing.
    package init() {}
}

/// A response as it crosses the wire, without a socket.
package struct WireResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The headers in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// For the log of the server that sends the response.
    package var note = WireNote()

    /// Makes a response.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, whatever its case.
    package func header(_ name: String) -> String? { firstHeader(name, in: headers) }

    /// True if the server is one of ours and sent the extra keys.
    package var hasExtras: Bool { header(WireHeader.protocolVersion) == "1" }
}

/// The headers of our own clients and servers, and the query items that identify the caller.
package enum WireHeader {
    /// A client's request for the extra keys: `X-Yap-Client: 1`.
    package static let client = "X-Yap-Client"
    /// The server's response to it: `X-Yap-Protocol: 1`.
    package static let protocolVersion = "X-Yap-Protocol"
    /// The query item that carries the user's token.
    package static let webAuthTokenItem = "ckWebAuthToken"
    /// The query item that carries the app's token.
    package static let apiTokenItem = "ckAPIToken"
    /// The query item that names the device.
    package static let clientIDItem = "clientId"
    /// The query item with which a device that waits for a notification acknowledges the one before.
    package static let afterItem = "after"
    /// The header in which Apple's servers give the token that takes the sent one's place.
    package static let newWebAuthToken = "X-Apple-CloudKit-Web-Auth-Token"
    /// The header in which a browser tells the origin of the page that asks.
    package static let origin = "Origin"
    /// The header with the name of the key by which a server signs.
    package static let keyID = "X-Apple-CloudKit-Request-KeyID"
    /// The header with the date of a signed request.
    package static let signedDate = "X-Apple-CloudKit-Request-ISO8601Date"
    /// The header with the signature, base64 of DER.
    package static let signature = "X-Apple-CloudKit-Request-SignatureV1"
    /// The header that names a write, so that a repeated one is answered and not done again.
    package static let operation = "X-Yap-Operation"
    /// What the names of a series of writes begin with, before the number of the series and a point.
    package static let operationSeries = "series-"
}

extension String {
    /// What stands between the slashes. Told apart by bytes: by characters it took a sixth of a lookup's time.
    package func pathSegments(maxSplits: Int = .max) -> [String] {
        utf8.split(separator: UInt8(ascii: "/"), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}

private func firstHeader(_ name: String, in headers: [(name: String, value: String)]) -> String? {
    let lowercased = name.lowercased()
    return headers.first { $0.name.lowercased() == lowercased }?.value
}
