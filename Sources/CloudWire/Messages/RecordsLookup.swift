/// The body of `records/lookup`.
package struct RecordsLookupRequest: Hashable, Sendable {
    /// One requested record.
    package struct Item: Hashable, Sendable {
        /// The record's name.
        package var recordName: String
        /// The record's zone; nil means the request's.
        package var zoneID: ZoneID?
        /// The fields to answer; nil means the request's.
        package var desiredKeys: [String]?
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes an item.
        package init(recordName: String, zoneID: ZoneID? = nil, desiredKeys: [String]? = nil) {
            self.recordName = recordName
            self.zoneID = zoneID
            self.desiredKeys = desiredKeys
        }
    }

    /// The records that are asked for.
    package var records: [Item]
    /// Their zone; nil means the default zone.
    package var zoneID: ZoneID?
    /// The fields to answer; nil means all.
    package var desiredKeys: [String]?
    /// True if the response shall have numbers as text.
    package var numbersAsStrings: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(
        records: [Item], zoneID: ZoneID? = nil, desiredKeys: [String]? = nil, numbersAsStrings: Bool? = nil
    ) {
        self.records = records
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}

extension RecordsLookupRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(records: [])
        var records: [Item]?
        for member in try node.members() {
            switch member.key {
            case "records": records = try member.value.array(of: Item.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "desiredKeys": desiredKeys = try member.value.strings()
            case "numbersAsStrings": numbersAsStrings = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.records = try node.required(records, "records")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("records", records)
            writer.member("zoneID", zoneID)
            writer.member("desiredKeys", desiredKeys)
            writer.member("numbersAsStrings", numbersAsStrings)
            writer.members(unknown)
        }
    }
}

extension RecordsLookupRequest.Item: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(recordName: "")
        var recordName: String?
        for member in try node.members() {
            switch member.key {
            case "recordName": recordName = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "desiredKeys": desiredKeys = try member.value.strings()
            default: try unknown.keep(member)
            }
        }
        self.recordName = try node.required(recordName, "recordName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("zoneID", zoneID)
            writer.member("desiredKeys", desiredKeys)
            writer.members(unknown)
        }
    }
}
