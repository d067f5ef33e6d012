/// The body of `changes/zone`.
public struct ChangesZoneRequest: Hashable, Sendable {
    /// What is asked of one zone.
    public struct Item: Hashable, Sendable {
        /// The zone.
        public var zoneID: ZoneID
        /// Where the last fetch ended; nil asks for everything.
        public var syncToken: String?
        /// The rest of what is asked; what is nil follows the request's.
        public var options: ChangesZoneOptions
        /// Keys that we don't know, as they came.
        public var unknown: [String: JSONValue] = [:]

        /// Makes an item.
        public init(
            zoneID: ZoneID, syncToken: String? = nil, options: ChangesZoneOptions = ChangesZoneOptions()
        ) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.options = options
        }
    }

    /// What is asked, zone by zone.
    public var zones: [Item]
    /// What holds for each zone that doesn't say otherwise.
    public var options: ChangesZoneOptions
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(zones: [Item], options: ChangesZoneOptions = ChangesZoneOptions()) {
        self.zones = zones
        self.options = options
    }
}

/// How changes of a zone are asked for.
public struct ChangesZoneOptions: Hashable, Sendable {
    /// The most records in a page.
    public var resultsLimit: Int64?
    /// The fields to answer; nil means all.
    public var desiredKeys: [String]?
    /// The types of records to answer; nil means all.
    public var desiredRecordTypes: [String]?
    /// Whether the newest comes first.
    public var reverse: Bool?
    /// Whether the answer shall have numbers as text.
    public var numbersAsStrings: Bool?

    /// Makes options.
    public init(
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

/// The answer of `changes/zone`.
public struct ChangesZoneResponse: Hashable, Sendable {
    /// What stands in the answer for one zone.
    public enum Result: Hashable, Sendable {
        /// A page of changes.
        case changes(ZoneChanges)
        /// What went wrong with this zone.
        case error(WireError)
    }

    /// A result for each zone, in the request's order.
    public var zones: [Result]
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes an answer.
    public init(zones: [Result]) { self.zones = zones }
}

/// A page of a zone's changes: each changed record once, in the order of the changes.
public struct ZoneChanges: Hashable, Sendable {
    /// The zone.
    public var zoneID: ZoneID
    /// Its changed and deleted records.
    public var records: [RecordResult]
    /// Where this page ended.
    public var syncToken: String?
    /// Whether there is another page.
    public var moreComing: Bool?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    public init(zoneID: ZoneID, records: [RecordResult], syncToken: String?, moreComing: Bool?) {
        self.zoneID = zoneID
        self.records = records
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}
