/// The body of `changes/database`.
public struct ChangesDatabaseRequest: Hashable, Sendable {
    /// Where the last fetch ended; nil asks for everything.
    public var syncToken: String?
    /// The most zones in a page.
    public var resultsLimit: Int64?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(syncToken: String? = nil, resultsLimit: Int64? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

/// The answer of `changes/database`: the zones that changed or went.
public struct ChangesDatabaseResponse: Hashable, Sendable {
    /// The zones.
    public var zones: [ZoneResult]
    /// Where this page ended.
    public var syncToken: String?
    /// Whether there is another page.
    public var moreComing: Bool?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    public init(zones: [ZoneResult], syncToken: String?, moreComing: Bool?) {
        self.zones = zones
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}
