/// A parsed and checked request without its body.
///
/// Header fields are decoded on access, because most are never used.
public struct HTTPRequestHead: Sendable {
    /// `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`.
    public var method: String
    /// The target as sent.
    public var target: String
    /// The target's path, percent-decoded once. It begins with a slash (or is `*` for OPTIONS), and has no
    /// control character and no segment that consists of dots only.
    public var path: String
    /// The items of the target's query in the order sent, percent-decoded once. A plus stays a plus.
    public var query: [(name: String, value: String)]
    /// The request ID of the log and the response's header: an upper-case UUID of version 4.
    public var requestID: String
    /// The client's address without its port.
    public var peer: String
    /// True if the client speaks HTTP/1.0, and so can't read a chunked body.
    public var isVersion10: Bool

    private var fields: HTTPFields

    /// Makes a head from its parts, for tests of a handler.
    public init(
        method: String, target: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], requestID: String = "", peer: String = ""
    ) {
        self.init(
            method: method, target: target, path: path, query: query, fields: HTTPFields(headers),
            isVersion10: false)
        self.requestID = requestID
        self.peer = peer
    }

    init(
        method: String, target: String, path: String, query: [(name: String, value: String)],
        fields: HTTPFields, isVersion10: Bool
    ) {
        self.method = method
        self.target = target
        self.path = path
        self.query = query
        self.fields = fields
        self.isVersion10 = isVersion10
        requestID = ""
        peer = ""
    }

    /// The header fields in the order sent, names as sent.
    public var headers: [(name: String, value: String)] {
        get { fields.all }
        set { fields = HTTPFields(newValue) }
    }

    /// Returns the value of the first header field with this name, case-insensitively.
    public func header(_ name: String) -> String? {
        fields.first(name)
    }

    /// Returns the decoded value of the first query item with this name.
    public func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}
