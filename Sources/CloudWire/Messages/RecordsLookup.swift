/// The body of `records/lookup`.
package struct RecordsLookupRequest: Hashable, Sendable {
    /// One requested record.
    package struct Item: Hashable, Sendable {
        /// The record's name.
        package var recordName: String
        /// The record's zone. Nil uses the request's.
        package var zoneID: ZoneID?
        /// Fields to include in the response. Nil uses the request's.
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

    /// The requested records.
    package var records: [Item]
    /// Their zone. Nil is the default zone.
    package var zoneID: ZoneID?
    /// Fields to include in the response. Nil includes all.
    package var desiredKeys: [String]?
    /// True to write numbers as text in the response.
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

extension RecordsLookupRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(records: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("records", &records)
        members.optional("zoneID", &zoneID)
        members.optional("desiredKeys", &desiredKeys)
        members.optional("numbersAsStrings", &numbersAsStrings)
    }
}

extension RecordsLookupRequest.Item: JSONObject {
    static var blank: Self { Self(recordName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("recordName", &recordName)
        members.optional("zoneID", &zoneID)
        members.optional("desiredKeys", &desiredKeys)
    }
}
