/// A request on the wire, independent of a socket.
package struct WireRequest: Sendable {
    /// `GET` or `POST`.
    package var method: String
    /// The path, percent-decoded: `/database/1/{container}/{environment}/{database}/records/modify`.
    package var path: String
    /// Items of the query in order, percent-decoded.
    package var query: [(name: String, value: String)]
    /// The headers in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// The server's own ID of the request, which an error has as its `uuid`. Not on the wire.
    package var requestID: String?
    /// URL that the client uses for the server, for example `http://127.0.0.1:8080`. The courier's URL starts
    /// with it. Not on the wire.
    package var serverURL: String?
    /// The path with its query as received, before decoding. A server-to-server signature is computed over
    /// it.
    package var rawTarget: String?
    /// The client's address, for limits on clients without a sign-in. Not on the wire.
    package var peer: String?
    /// True to add a detail to the response's note. Not on the wire.
    package var isTraced = false
    /// The parsed `path`, or nil if the server hasn't parsed it. Not on the wire.
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

    /// Returns the first header with that name, in upper or lower case.
    package func header(_ name: String) -> String? { firstHeader(name, in: headers) }

    /// Returns the first query item with that name.
    package func queryItem(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// True if the client is one of ours and understands the extra keys.
    package var wantsExtras: Bool { header(WireHeader.client) == "1" }
}

/// Information about a response for the operator's log. Not on the wire.
package struct WireNote: Hashable, Sendable {
    /// The record name of the caller.
    package var userRecordName: String?
    /// Error code of a request that failed as a whole.
    package var errorCode: String?
    /// Numbers of failed records by error code, for a request that succeeded otherwise.
    package var recordErrors: [String: Int] = [:]
    /// Number of writes in the commit that the request waited for, or 0 if it waited for none.
    package var groupRequests = 0
    /// True if the app doesn't allow the origin of the page that sent the request. The page may not read the
    /// response.
    package var refusesOrigin = false

    /// True if the request only read, so it can safely be repeated.
    package var isRead = false
    /// Details for the request history, or nil if the request wasn't traced.
    package var detail: WireDetail? {
        get { boxedDetail.first }
        set { boxedDetail = newValue.map { [$0] } ?? [] }
    }

    // In an array, so that a note without a detail uses little memory.
    private var boxedDetail: [WireDetail] = []

    /// Makes an empty note.
    package init() {}
}

/// A response on the wire, independent of a socket.
package struct WireResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The headers in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// Information for the log of the server that sends the response. Not on the wire.
    package var note = WireNote()

    /// Makes a response.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first header with that name, in upper or lower case.
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
    /// The query item of a device that waits for notifications: acknowledges the previous notification.
    package static let afterItem = "after"
    /// The header with the token that replaces the sent one, in responses of Apple's servers.
    package static let newWebAuthToken = "X-Apple-CloudKit-Web-Auth-Token"
    /// The header with the origin of the page that sends the request.
    package static let origin = "Origin"
    /// The header with the ID of the key that signed a server-to-server request.
    package static let keyID = "X-Apple-CloudKit-Request-KeyID"
    /// The header with the date of a signed request.
    package static let signedDate = "X-Apple-CloudKit-Request-ISO8601Date"
    /// The header with the signature, base64 of DER.
    package static let signature = "X-Apple-CloudKit-Request-SignatureV1"
    /// The header with the name of a write. The server doesn't execute a repeated write again, but returns
    /// its response.
    package static let operation = "X-Yap-Operation"
    /// Prefix of the names in a series of writes. The number of the series and a point follow.
    package static let operationSeries = "series-"
}

extension String {
    /// Returns the segments between slashes. Splits by bytes, because splitting by characters took a sixth of
    /// a lookup's time.
    package func pathSegments(maxSplits: Int = .max) -> [String] {
        utf8.split(separator: UInt8(ascii: "/"), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}

private func firstHeader(_ name: String, in headers: [(name: String, value: String)]) -> String? {
    let lowercased = name.lowercased()
    return headers.first { $0.name.lowercased() == lowercased }?.value
}
