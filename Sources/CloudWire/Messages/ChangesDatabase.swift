/// The body of `changes/database`.
package struct ChangesDatabaseRequest: Hashable, Sendable {
    /// Token of the last page. Nil requests all zones.
    package var syncToken: String?
    /// Maximum number of zones in a page.
    package var resultsLimit: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil, resultsLimit: Int64? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

/// The response of `changes/database`: a page of changed and deleted zones.
package struct ChangesDatabaseResponse: Hashable, Sendable {
    /// The zones.
    package var zones: [ZoneResult]
    /// Token of this page.
    package var syncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    package init(zones: [ZoneResult], syncToken: String?, moreComing: Bool?) {
        self.zones = zones
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}

extension ChangesDatabaseRequest: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        visit(&members, tokenKey: "syncToken")
    }

    /// Visits the members of this endpoint or of the older one.
    mutating func visit(_ members: inout some JSONMembers & ~Copyable, tokenKey: StaticString) {
        members.optional(tokenKey, &syncToken)
        members.optional("resultsLimit", &resultsLimit)
    }
}

extension ChangesDatabaseResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(zones: [], syncToken: nil, moreComing: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        visit(&members, tokenKey: "syncToken")
    }

    /// Visits the members of this endpoint or of the older one.
    mutating func visit(_ members: inout some JSONMembers & ~Copyable, tokenKey: StaticString) {
        members.required("zones", &zones)
        members.optional(tokenKey, &syncToken)
        members.optional("moreComing", &moreComing)
    }
}
