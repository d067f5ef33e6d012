/// The body of `changes/database`.
package struct ChangesDatabaseRequest: Hashable, Sendable {
    /// Where the last fetch ended; nil asks for everything.
    package var syncToken: String?
    /// The most zones in a page.
    package var resultsLimit: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil, resultsLimit: Int64? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

/// The response of `changes/database`: the zones that changed or went.
package struct ChangesDatabaseResponse: Hashable, Sendable {
    /// The zones.
    package var zones: [ZoneResult]
    /// Where this page ended.
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

extension ChangesDatabaseRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "resultsLimit": resultsLimit = try member.value.int64()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("syncToken", syncToken)
            writer.member("resultsLimit", resultsLimit)
            writer.members(unknown)
        }
    }
}

extension ChangesDatabaseResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [], syncToken: nil, moreComing: nil)
        var zones: [ZoneResult]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: ZoneResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "moreComing": moreComing = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.zones = try node.required(zones, "zones")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zones", zones)
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            writer.members(unknown)
        }
    }
}
