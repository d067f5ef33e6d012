/// The body of `records/query`.
package struct RecordsQueryRequest: Hashable, Sendable {
    /// The query. Nil only in a request with a marker and nothing else.
    package var query: RecordQuery?
    /// The zone to search. Nil is the default zone.
    package var zoneID: ZoneID?
    /// True to search all zones, if `zoneID` is nil.
    package var zoneWide: Bool?
    /// Maximum number of records in a page.
    package var resultsLimit: Int64?
    /// Token of the last page.
    package var continuationMarker: String?
    /// Fields to include in the response. Nil includes all.
    package var desiredKeys: [String]?
    /// True to write numbers as text in the response.
    package var numbersAsStrings: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(
        query: RecordQuery?, zoneID: ZoneID? = nil, zoneWide: Bool? = nil, resultsLimit: Int64? = nil,
        continuationMarker: String? = nil, desiredKeys: [String]? = nil, numbersAsStrings: Bool? = nil
    ) {
        self.query = query
        self.zoneID = zoneID
        self.zoneWide = zoneWide
        self.resultsLimit = resultsLimit
        self.continuationMarker = continuationMarker
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}

/// A query for records.
package struct RecordQuery: Hashable, Sendable {
    /// The type of the records.
    package var recordType: String?
    /// The conditions, all of which must hold.
    package var filterBy: [RecordFilter]?
    /// True if the one condition came as an object and not in an array, as some clients send it.
    package var isFilterBareObject = false
    /// The order, most significant first.
    package var sortBy: [RecordSort]?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a query.
    package init(recordType: String?, filterBy: [RecordFilter]? = nil, sortBy: [RecordSort]? = nil) {
        self.recordType = recordType
        self.filterBy = filterBy
        self.sortBy = sortBy
    }
}

/// One condition of a query.
package struct RecordFilter: Hashable, Sendable {
    /// The comparison: `EQUALS`, `LESS_THAN`, ... A text, so that the service rejects unknown ones with its own reason.
    package var comparator: String
    /// The field to compare; or `systemFieldName`.
    package var fieldName: String?
    /// The system field to compare.
    package var systemFieldName: String?
    /// The value to compare with.
    package var fieldValue: Field?
    /// Metres, for `NEAR`.
    package var distanceMetres: Double?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a condition.
    package init(
        comparator: String, fieldName: String? = nil, systemFieldName: String? = nil,
        fieldValue: Field? = nil,
        distanceMetres: Double? = nil
    ) {
        self.comparator = comparator
        self.fieldName = fieldName
        self.systemFieldName = systemFieldName
        self.fieldValue = fieldValue
        self.distanceMetres = distanceMetres
    }
}

/// One key of a query's order.
package struct RecordSort: Hashable, Sendable {
    /// The field to order by; or `systemFieldName`.
    package var fieldName: String?
    /// The system field to order by.
    package var systemFieldName: String?
    /// True or nil to sort ascending.
    package var ascending: Bool?
    /// The location to measure distances from.
    package var relativeLocation: Field?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a key.
    package init(
        fieldName: String? = nil, systemFieldName: String? = nil, ascending: Bool? = nil,
        relativeLocation: Field? = nil
    ) {
        self.fieldName = fieldName
        self.systemFieldName = systemFieldName
        self.ascending = ascending
        self.relativeLocation = relativeLocation
    }
}

/// The response of `records/query`: a page.
package struct RecordsQueryResponse: Hashable, Sendable {
    /// The records of the page.
    package var records: [RecordResult]
    /// Marker of the next page. Nil on the last page.
    package var continuationMarker: String?
    /// The zone's change token, if it was requested.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    package init(records: [RecordResult], continuationMarker: String? = nil, syncToken: String? = nil) {
        self.records = records
        self.continuationMarker = continuationMarker
        self.syncToken = syncToken
    }
}

/// The body of `internal/records/query/batch`.
package struct RecordsQueryBatchRequest: Hashable, Sendable {
    /// The queries.
    package var batch: [RecordsQueryRequest]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a batch.
    package init(batch: [RecordsQueryRequest]) { self.batch = batch }
}

/// The response of `internal/records/query/batch`.
package struct RecordsQueryBatchResponse: Hashable, Sendable {
    /// The pages, in the queries' order.
    package var batch: [RecordsQueryResponse]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a batch.
    package init(batch: [RecordsQueryResponse]) { self.batch = batch }
}

extension RecordsQueryRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(query: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("query", &query)
        members.optional("zoneID", &zoneID)
        members.optional("zoneWide", &zoneWide)
        members.optional("resultsLimit", &resultsLimit)
        members.optional("continuationMarker", &continuationMarker)
        members.optional("desiredKeys", &desiredKeys)
        members.optional("numbersAsStrings", &numbersAsStrings)
    }
}

extension RecordQuery: JSONObject {
    static var blank: Self { Self(recordType: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("recordType", &recordType)
        members.member("filterBy", .optional) { node throws(JSONError) in
            isFilterBareObject = node.kind == .object
            filterBy =
                isFilterBareObject ? [try RecordFilter(reading: node)] : try [RecordFilter](reading: node)
        } write: { writer in
            if isFilterBareObject, let filter = filterBy?.first, filterBy?.count == 1 {
                writer.member("filterBy", filter)
            } else {
                writer.member("filterBy", filterBy)
            }
        }
        members.optional("sortBy", &sortBy)
    }
}

extension RecordFilter: JSONObject {
    static var blank: Self { Self(comparator: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("comparator", &comparator)
        members.optional("fieldName", &fieldName)
        members.optional("systemFieldName", &systemFieldName)
        members.optional("fieldValue", &fieldValue)
        members.optional("distance", &distanceMetres)
    }
}

extension RecordSort: JSONObject {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("fieldName", &fieldName)
        members.optional("systemFieldName", &systemFieldName)
        members.optional("ascending", &ascending)
        members.optional("relativeLocation", &relativeLocation)
    }
}

extension RecordsQueryResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(records: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("records", &records)
        members.optional("continuationMarker", &continuationMarker)
        members.optional("syncToken", &syncToken)
    }
}

extension RecordsQueryBatchRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(batch: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("batch", &batch)
    }
}

extension RecordsQueryBatchResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(batch: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("batch", &batch)
    }
}
