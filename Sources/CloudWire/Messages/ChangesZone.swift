/// The body of `changes/zone`.
package struct ChangesZoneRequest: Hashable, Sendable {
    /// The request for one zone.
    package struct Item: Hashable, Sendable {
        /// The zone.
        package var zoneID: ZoneID
        /// Where the last fetch ended; nil asks for everything.
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
    /// What holds for each zone that doesn't say otherwise.
    package var options: ChangesZoneOptions
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(zones: [Item], options: ChangesZoneOptions = ChangesZoneOptions()) {
        self.zones = zones
        self.options = options
    }
}

/// How changes of a zone are asked for.
package struct ChangesZoneOptions: Hashable, Sendable {
    /// The most records in a page.
    package var resultsLimit: Int64?
    /// The fields to answer; nil means all.
    package var desiredKeys: [String]?
    /// The types of records to answer; nil means all.
    package var desiredRecordTypes: [String]?
    /// True if the newest comes first.
    package var reverse: Bool?
    /// True if the response shall have numbers as text.
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
    /// What stands in the response for one zone.
    package enum Result: Hashable, Sendable {
        /// A page of changes.
        case changes(ZoneChanges)
        /// What went wrong with this zone.
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
    /// Where this page ended.
    package var syncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// What this device's last write into the zone brought along; a key of our own.
    package var clientChangeToken: [UInt8]?
    /// On the last page what the zone comes to, with all that `syncToken` covers; a key of our own.
    package var checksum: ZoneChecksum?
    /// On the last page the version of the schema, an opaque text; a key of our own.
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

extension ChangesZoneRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [])
        var zones: [Item]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: Item.self)
            case _ where member.value.isNull: try unknown.keep(member)
            default:
                guard try !options.read(member) else { continue }
                try unknown.keep(member)
            }
        }
        self.zones = try node.required(zones, "zones")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zones", zones)
            options.write(to: &writer)
            writer.members(unknown)
        }
    }
}

extension ChangesZoneRequest.Item: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zoneID: ZoneID())
        var zoneID: ZoneID?
        for member in try node.members() {
            switch member.key {
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            default:
                guard try !options.read(member) else { continue }
                try unknown.keep(member)
            }
        }
        self.zoneID = try node.required(zoneID, "zoneID")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneID", zoneID)
            writer.member("syncToken", syncToken)
            options.write(to: &writer)
            writer.members(unknown)
        }
    }
}

extension ChangesZoneOptions {
    /// Reads a member if it is an option; says whether it is.
    fileprivate mutating func read(_ member: JSONNode.Member) throws(JSONError) -> Bool {
        switch member.key {
        case "resultsLimit": resultsLimit = try member.value.int64()
        case "desiredKeys": desiredKeys = try member.value.strings()
        case "desiredRecordTypes": desiredRecordTypes = try member.value.strings()
        case "reverse": reverse = try member.value.bool()
        // Apple's page spells it the second way here.
        case "numbersAsStrings", "numberAsStrings": numbersAsStrings = try member.value.bool()
        default: return false
        }
        return true
    }

    /// Writes the options as members of the object that is being written.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("resultsLimit", resultsLimit)
        writer.member("desiredKeys", desiredKeys)
        writer.member("desiredRecordTypes", desiredRecordTypes)
        writer.member("reverse", reverse)
        writer.member("numbersAsStrings", numbersAsStrings)
    }
}

extension ChangesZoneResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zones: [])
        var zones: [Result]?
        for member in try node.members() {
            switch member.key {
            case "zones": zones = try member.value.array(of: Result.self)
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

extension ZoneChanges: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zoneID: ZoneID(), records: [], syncToken: nil, moreComing: nil)
        var zoneID: ZoneID?
        var records: [RecordResult]?
        for member in try node.members() {
            switch member.key {
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "records": records = try member.value.array(of: RecordResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "moreComing": moreComing = try member.value.bool()
            case "clientChangeToken": clientChangeToken = try member.value.base64()
            case "checksum": checksum = ZoneChecksum(try member.value.string())
            case "schemaVersion": schemaVersion = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.zoneID = try node.required(zoneID, "zoneID")
        self.records = try node.required(records, "records")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneID", zoneID)
            writer.member("records", records)
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            if writer.includesExtras, let clientChangeToken {
                writer.key("clientChangeToken")
                writer.base64(clientChangeToken)
            }
            if writer.includesExtras {
                writer.member("checksum", checksum?.text)
                writer.member("schemaVersion", schemaVersion)
            }
            writer.members(unknown)
        }
    }
}
