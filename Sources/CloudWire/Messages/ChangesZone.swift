/// The body of `changes/zone`.
package struct ChangesZoneRequest: Hashable, Sendable {
    /// The request for one zone.
    package struct Item: Hashable, Sendable {
        /// The zone.
        package var zoneID: ZoneID
        /// Token of the last page. Nil requests everything.
        package var syncToken: String?
        /// The options for this zone. Nil takes the request's.
        package var options: ChangesZoneOptions
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes an item.
        package init(
            zoneID: ZoneID, syncToken: String? = nil, options: ChangesZoneOptions = ChangesZoneOptions()
        ) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.options = options
        }
    }

    /// The requests, one per zone.
    package var zones: [Item]
    /// Default options of the zones.
    package var options: ChangesZoneOptions
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(zones: [Item], options: ChangesZoneOptions = ChangesZoneOptions()) {
        self.zones = zones
        self.options = options
    }
}

/// Options of a request for a zone's changes.
package struct ChangesZoneOptions: Hashable, Sendable {
    /// Maximum number of records in a page.
    package var resultsLimit: Int64?
    /// Fields to include in the response. Nil includes all.
    package var desiredKeys: [String]?
    /// Record types to include in the response. Nil includes all.
    package var desiredRecordTypes: [String]?
    /// True to start with the newest change.
    package var reverse: Bool?
    /// True to write numbers as text in the response.
    package var numbersAsStrings: Bool?

    /// Makes options.
    package init(
        resultsLimit: Int64? = nil, desiredKeys: [String]? = nil, desiredRecordTypes: [String]? = nil,
        reverse: Bool? = nil, numbersAsStrings: Bool? = nil
    ) {
        self.resultsLimit = resultsLimit
        self.desiredKeys = desiredKeys
        self.desiredRecordTypes = desiredRecordTypes
        self.reverse = reverse
        self.numbersAsStrings = numbersAsStrings
    }
}

/// The response of `changes/zone`.
package struct ChangesZoneResponse: Hashable, Sendable {
    /// The response for one zone.
    package enum Result: Hashable, Sendable {
        /// A page of changes.
        case changes(ZoneChanges)
        /// The zone's error.
        case error(WireError)
    }

    /// A result for each zone, in the request's order.
    package var zones: [Result]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(zones: [Result]) { self.zones = zones }
}

/// A page of a zone's changes: each changed record once, in the order of the changes.
package struct ZoneChanges: Hashable, Sendable {
    /// The zone.
    package var zoneID: ZoneID
    /// Its changed and deleted records.
    package var records: [RecordResult]
    /// Token of this page.
    package var syncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// Bytes of this device's last write to the zone. Our own key.
    package var clientChangeToken: [UInt8]?
    /// On the last page, the checksum of the zone at `syncToken`. Our own key.
    package var checksum: ZoneChecksum?
    /// On the last page, the version of the schema, an opaque text. Our own key.
    package var schemaVersion: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    package init(zoneID: ZoneID, records: [RecordResult], syncToken: String?, moreComing: Bool?) {
        self.zoneID = zoneID
        self.records = records
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}

extension ChangesZoneRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(zones: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zones", &zones)
        options.visit(&members)
    }
}

extension ChangesZoneRequest.Item: JSONObject {
    static var blank: Self { Self(zoneID: ZoneID()) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zoneID", &zoneID)
        members.optional("syncToken", &syncToken)
        options.visit(&members)
    }
}

extension ChangesZoneOptions {
    /// Passes the options as members of the object that has them.
    fileprivate mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("resultsLimit", &resultsLimit)
        members.optional("desiredKeys", &desiredKeys)
        members.optional("desiredRecordTypes", &desiredRecordTypes)
        members.optional("reverse", &reverse)
        members.optional("numbersAsStrings", &numbersAsStrings)
        // The second spelling, of Apple's page. Never written.
        members.member("numberAsStrings", .optional) { node throws(JSONError) in
            numbersAsStrings = try node.bool()
        } write: { _ in
        }
    }
}

extension ChangesZoneResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(zones: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zones", &zones)
    }
}

extension ChangesZoneResponse.Result: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        if node["serverErrorCode"] != nil {
            self = .error(try WireError(reading: node))
        } else {
            self = .changes(try ZoneChanges(reading: node))
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .changes(let changes): changes.write(to: &writer)
        case .error(let error): error.write(to: &writer)
        }
    }
}

extension ZoneChanges: JSONObject {
    static var blank: Self { Self(zoneID: ZoneID(), records: [], syncToken: nil, moreComing: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zoneID", &zoneID)
        members.required("records", &records)
        members.optional("syncToken", &syncToken)
        members.optional("moreComing", &moreComing)
        guard members.includesExtras else { return }
        members.optional("clientChangeToken", base64: &clientChangeToken)
        members.member("checksum", .optional) { node throws(JSONError) in
            checksum = ZoneChecksum(try node.string())
        } write: {
            $0.member("checksum", checksum?.text)
        }
        members.optional("schemaVersion", &schemaVersion)
    }
}
