/// The body of `records/query`.
package struct RecordsQueryRequest: Hashable, Sendable {
    /// What to find; nil only in a request that has nothing but a marker.
    package var query: RecordQuery?
    /// Where to look; nil means the default zone.
    package var zoneID: ZoneID?
    /// True if to look in all zones; a zone that is named wins.
    package var zoneWide: Bool?
    /// The most records in a page.
    package var resultsLimit: Int64?
    /// Where the last page ended.
    package var continuationMarker: String?
    /// The fields to answer; nil means all.
    package var desiredKeys: [String]?
    /// True if the response shall have numbers as text.
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

/// What a query finds.
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
    /// How to compare: `EQUALS`, `LESS_THAN`, ... No enumeration, for the service to refuse in its own words.
    package var comparator: String
    /// The field to compare; or `systemFieldName`.
    package var fieldName: String?
    /// The system field to compare.
    package var systemFieldName: String?
    /// What to compare with.
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
    /// True if small comes first; nil means that it does.
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
    /// Where the page ended; nil on the last.
    package var continuationMarker: String?
    /// The zone's change token, if it was asked for.
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

extension RecordsQueryRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(query: nil)
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "query": query = try RecordQuery(reading: member.value)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "zoneWide": zoneWide = try member.value.bool()
            case "resultsLimit": resultsLimit = try member.value.int64()
            case "continuationMarker": continuationMarker = try member.value.string()
            case "desiredKeys": desiredKeys = try member.value.strings()
            case "numbersAsStrings": numbersAsStrings = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("query", query)
            writer.member("zoneID", zoneID)
            writer.member("zoneWide", zoneWide)
            writer.member("resultsLimit", resultsLimit)
            writer.member("continuationMarker", continuationMarker)
            writer.member("desiredKeys", desiredKeys)
            writer.member("numbersAsStrings", numbersAsStrings)
            writer.members(unknown)
        }
    }
}

extension RecordQuery: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(recordType: nil)
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "recordType": recordType = try member.value.string()
            case "filterBy" where member.value.kind == .object:
                filterBy = [try RecordFilter(reading: member.value)]
                isFilterBareObject = true
            case "filterBy": filterBy = try member.value.array(of: RecordFilter.self)
            case "sortBy": sortBy = try member.value.array(of: RecordSort.self)
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordType", recordType)
            if isFilterBareObject, let filter = filterBy?.first, filterBy?.count == 1 {
                writer.member("filterBy", filter)
            } else {
                writer.member("filterBy", filterBy)
            }
            writer.member("sortBy", sortBy)
            writer.members(unknown)
        }
    }
}

extension RecordFilter: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(comparator: "")
        var comparator: String?
        for member in try node.members() {
            switch member.key {
            case "comparator": comparator = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "fieldName": fieldName = try member.value.string()
            case "systemFieldName": systemFieldName = try member.value.string()
            case "fieldValue": fieldValue = try Field(reading: member.value)
            case "distance": distanceMetres = try member.value.double()
            default: try unknown.keep(member)
            }
        }
        self.comparator = try node.required(comparator, "comparator")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("comparator", comparator)
            writer.member("fieldName", fieldName)
            writer.member("systemFieldName", systemFieldName)
            writer.member("fieldValue", fieldValue)
            writer.member("distance", distanceMetres)
            writer.members(unknown)
        }
    }
}

extension RecordSort: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "fieldName": fieldName = try member.value.string()
            case "systemFieldName": systemFieldName = try member.value.string()
            case "ascending": ascending = try member.value.bool()
            case "relativeLocation": relativeLocation = try Field(reading: member.value)
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("fieldName", fieldName)
            writer.member("systemFieldName", systemFieldName)
            writer.member("ascending", ascending)
            writer.member("relativeLocation", relativeLocation)
            writer.members(unknown)
        }
    }
}

extension RecordsQueryResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(records: [])
        var records: [RecordResult]?
        for member in try node.members() {
            switch member.key {
            case "records": records = try member.value.array(of: RecordResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "continuationMarker": continuationMarker = try member.value.string()
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.records = try node.required(records, "records")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("records", records)
            writer.member("continuationMarker", continuationMarker)
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}

extension RecordsQueryBatchRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(batch: [])
        var batch: [RecordsQueryRequest]?
        for member in try node.members() {
            switch member.key {
            case "batch": batch = try member.value.array(of: RecordsQueryRequest.self)
            default: try unknown.keep(member)
            }
        }
        self.batch = try node.required(batch, "batch")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("batch", batch)
            writer.members(unknown)
        }
    }
}

extension RecordsQueryBatchResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(batch: [])
        var batch: [RecordsQueryResponse]?
        for member in try node.members() {
            switch member.key {
            case "batch": batch = try member.value.array(of: RecordsQueryResponse.self)
            default: try unknown.keep(member)
            }
        }
        self.batch = try node.required(batch, "batch")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("batch", batch)
            writer.members(unknown)
        }
    }
}
