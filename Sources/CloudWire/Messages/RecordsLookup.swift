/// The body of `records/lookup`.
public struct RecordsLookupRequest: Hashable, Sendable {
    /// One record that is asked for.
    public struct Item: Hashable, Sendable {
        /// The record's name.
        public var recordName: String
        /// The record's zone; nil means the request's.
        public var zoneID: ZoneID?
        /// The fields to answer; nil means the request's.
        public var desiredKeys: [String]?
        /// Keys that we don't know, as they came.
        public var unknown: [String: JSONValue] = [:]

        /// Makes an item.
        public init(recordName: String, zoneID: ZoneID? = nil, desiredKeys: [String]? = nil) {
            self.recordName = recordName
            self.zoneID = zoneID
            self.desiredKeys = desiredKeys
        }
    }

    /// The records that are asked for.
    public var records: [Item]
    /// Their zone; nil means the default zone.
    public var zoneID: ZoneID?
    /// The fields to answer; nil means all.
    public var desiredKeys: [String]?
    /// Whether the answer shall have numbers as text.
    public var numbersAsStrings: Bool?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    public init(
        records: [Item], zoneID: ZoneID? = nil, desiredKeys: [String]? = nil, numbersAsStrings: Bool? = nil
    ) {
        self.records = records
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}
