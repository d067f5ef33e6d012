/// The body of `zones/changes`, which Apple has replaced by `changes/database`: its token has another name.
package struct ZonesChangesRequest: Hashable, Sendable {
    /// Where the last fetch ended; nil asks for everything.
    package var metaSyncToken: String?
    /// The most zones in a page.
    package var resultsLimit: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(metaSyncToken: String? = nil, resultsLimit: Int64? = nil) {
        self.metaSyncToken = metaSyncToken
        self.resultsLimit = resultsLimit
    }
}

/// The response of `zones/changes`: the zones that changed or went.
package struct ZonesChangesResponse: Hashable, Sendable {
    /// The zones.
    package var zones: [ZoneResult]
    /// Where this page ended.
    package var metaSyncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    package init(zones: [ZoneResult], metaSyncToken: String?, moreComing: Bool?) {
        self.zones = zones
        self.metaSyncToken = metaSyncToken
        self.moreComing = moreComing
    }
}

extension ZonesChangesRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "metaSyncToken": metaSyncToken = try member.value.string()
            case "resultsLimit": resultsLimit = try member.value.int64()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("metaSyncToken", metaSyncToken)
            writer.member("resultsLimit", resultsLimit)
            writer.members(unknown)
        }
    }
}

extension ZonesChangesResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [], metaSyncToken: nil, moreComing: nil)
        var zones: [ZoneResult]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: ZoneResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "metaSyncToken": metaSyncToken = try member.value.string()
            case "moreComing": moreComing = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.zones = try node.required(zones, "zones")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zones", zones)
            writer.member("metaSyncToken", metaSyncToken)
            writer.member("moreComing", moreComing)
            writer.members(unknown)
        }
    }
}
