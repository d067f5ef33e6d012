/// The body of `zones/list`; a GET has none.
package struct ZonesListRequest: Hashable, Sendable {
    /// Where the last page ended.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil) { self.syncToken = syncToken }
}

/// The body of `zones/lookup`.
package struct ZonesLookupRequest: Hashable, Sendable {
    /// The zones that are asked for.
    package var zones: [ZoneID]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(zones: [ZoneID]) { self.zones = zones }
}

/// The body of `zones/modify`.
package struct ZonesModifyRequest: Hashable, Sendable {
    /// What to do, in order.
    package var operations: [ZoneOperation]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(operations: [ZoneOperation]) { self.operations = operations }
}

/// One operation of `zones/modify`.
package struct ZoneOperation: Hashable, Sendable {
    /// What to do with a zone; the raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Make it.
        case create
        /// Delete it and all its records.
        case delete
    }

    /// What to do.
    package var operationType: Kind
    /// With which zone.
    package var zone: WireZone
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an operation.
    package init(operationType: Kind, zone: WireZone) {
        self.operationType = operationType
        self.zone = zone
    }
}

/// The response of `zones/list`, `zones/lookup` and `zones/modify`: the last two in the request's order.
package struct ZonesResponse: Hashable, Sendable {
    /// The results.
    package var zones: [ZoneResult]
    /// True if there is another page, where a list says so.
    package var moreComing: Bool?
    /// The database's change token, where a list has it.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(zones: [ZoneResult], moreComing: Bool? = nil, syncToken: String? = nil) {
        self.zones = zones
        self.moreComing = moreComing
        self.syncToken = syncToken
    }
}

/// The response of `zones/list`.
package typealias ZonesListResponse = ZonesResponse
/// The response of `zones/lookup`.
package typealias ZonesLookupResponse = ZonesResponse
/// The response of `zones/modify`.
package typealias ZonesModifyResponse = ZonesResponse

extension ZonesListRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}

extension ZonesLookupRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [])
        var zones: [ZoneID]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: ZoneID.self)
            default: try unknown.keep(member)
            }
        }
        self.zones = try node.required(zones, "zones")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zones", zones)
            writer.members(unknown)
        }
    }
}

extension ZonesModifyRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operations: [])
        var operations: [ZoneOperation]?
        for member in try node.members() {
            switch member.key {
            case "operations": operations = try member.value.array(of: ZoneOperation.self)
            default: try unknown.keep(member)
            }
        }
        self.operations = try node.required(operations, "operations")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operations", operations)
            writer.members(unknown)
        }
    }
}

extension ZoneOperation: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operationType: .create, zone: WireZone(zoneID: ZoneID()))
        var operationType: Kind?
        var zone: WireZone?
        for member in try node.members() {
            switch member.key {
            case "operationType": operationType = try member.value.choice("operationType")
            case "zone": zone = try WireZone(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.operationType = try node.required(operationType, "operationType")
        self.zone = try node.required(zone, "zone")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operationType", operationType.rawValue)
            writer.member("zone", zone)
            writer.members(unknown)
        }
    }
}

extension ZonesResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [])
        var zones: [ZoneResult]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: ZoneResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "moreComing": moreComing = try member.value.bool()
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.zones = try node.required(zones, "zones")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zones", zones)
            writer.member("moreComing", moreComing)
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}
