/// The body of `zones/list`; a GET has none.
package struct ZonesListRequest: Hashable, Sendable {
    /// Token of the last page.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil) { self.syncToken = syncToken }
}

/// The body of `zones/lookup`.
package struct ZonesLookupRequest: Hashable, Sendable {
    /// The requested zones.
    package var zones: [ZoneID]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(zones: [ZoneID]) { self.zones = zones }
}

/// The body of `zones/modify`.
package struct ZonesModifyRequest: Hashable, Sendable {
    /// The operations, in order.
    package var operations: [ZoneOperation]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(operations: [ZoneOperation]) { self.operations = operations }
}

/// One operation of `zones/modify`.
package struct ZoneOperation: Hashable, Sendable {
    /// The kind of operation. The raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Creates it.
        case create
        /// Deletes it and all its records.
        case delete
    }

    /// The kind of operation.
    package var operationType: Kind
    /// The zone.
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
    /// True if there is another page, in the response to a list.
    package var moreComing: Bool?
    /// The database's change token, in the response to a list.
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

extension ZonesListRequest: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("syncToken", &syncToken)
    }
}

extension ZonesLookupRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(zones: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zones", &zones)
    }
}

extension ZonesModifyRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(operations: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operations", &operations)
    }
}

extension ZoneOperation: JSONObject {
    static var blank: Self { Self(operationType: .create, zone: WireZone(zoneID: ZoneID())) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operationType", choice: &operationType)
        members.required("zone", &zone)
    }
}

extension ZonesResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(zones: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zones", &zones)
        members.optional("moreComing", &moreComing)
        members.optional("syncToken", &syncToken)
    }
}
