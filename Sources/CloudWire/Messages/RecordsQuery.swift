/// The body of `records/query`.
public struct RecordsQueryRequest: Hashable, Sendable {
    /// What to find; nil only in a request that has nothing but a marker.
    public var query: RecordQuery?
    /// Where to look; nil means the default zone.
    public var zoneID: ZoneID?
    /// Whether to look in all zones; a zone that is named wins.
    public var zoneWide: Bool?
    /// The most records in a page.
    public var resultsLimit: Int64?
    /// Where the last page ended.
    public var continuationMarker: String?
    /// The fields to answer; nil means all.
    public var desiredKeys: [String]?
    /// Whether the answer shall have numbers as text.
    public var numbersAsStrings: Bool?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(
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
public struct RecordQuery: Hashable, Sendable {
    /// The type of the records.
    public var recordType: String?
    /// The conditions, all of which must hold.
    public var filterBy: [RecordFilter]?
    /// Whether the one condition came as an object and not in an array, as some clients send it.
    public var isFilterBareObject = false
    /// The order, most significant first.
    public var sortBy: [RecordSort]?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a query.
    public init(recordType: String?, filterBy: [RecordFilter]? = nil, sortBy: [RecordSort]? = nil) {
        self.recordType = recordType
        self.filterBy = filterBy
        self.sortBy = sortBy
    }
}

/// One condition of a query.
public struct RecordFilter: Hashable, Sendable {
    /// How to compare: `EQUALS`, `LESS_THAN`, ... A name and no enum, for the service to refuse with its own words.
    public var comparator: String
    /// The field to compare; or `systemFieldName`.
    public var fieldName: String?
    /// The system field to compare.
    public var systemFieldName: String?
    /// What to compare with.
    public var fieldValue: Field?
    /// Metres, for `NEAR`.
    public var distanceMetres: Double?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a condition.
    public init(
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
public struct RecordSort: Hashable, Sendable {
    /// The field to order by; or `systemFieldName`.
    public var fieldName: String?
    /// The system field to order by.
    public var systemFieldName: String?
    /// Whether small comes first; nil means that it does.
    public var ascending: Bool?
    /// The place whose distance decides.
    public var relativeLocation: Field?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a key.
    public init(
        fieldName: String? = nil, systemFieldName: String? = nil, ascending: Bool? = nil,
        relativeLocation: Field? = nil
    ) {
        self.fieldName = fieldName
        self.systemFieldName = systemFieldName
        self.ascending = ascending
        self.relativeLocation = relativeLocation
    }
}

/// The answer of `records/query`: a page.
public struct RecordsQueryResponse: Hashable, Sendable {
    /// The records of the page.
    public var records: [RecordResult]
    /// Where the page ended; nil on the last.
    public var continuationMarker: String?
    /// The zone's change token, if it was asked for.
    public var syncToken: String?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    public init(records: [RecordResult], continuationMarker: String? = nil, syncToken: String? = nil) {
        self.records = records
        self.continuationMarker = continuationMarker
        self.syncToken = syncToken
    }
}

/// The body of `internal/records/query/batch`.
public struct RecordsQueryBatchRequest: Hashable, Sendable {
    /// The queries.
    public var batch: [RecordsQueryRequest]
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a batch.
    public init(batch: [RecordsQueryRequest]) { self.batch = batch }
}

/// The answer of `internal/records/query/batch`.
public struct RecordsQueryBatchResponse: Hashable, Sendable {
    /// The pages, in the queries' order.
    public var batch: [RecordsQueryResponse]
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a batch.
    public init(batch: [RecordsQueryResponse]) { self.batch = batch }
}
