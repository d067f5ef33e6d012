/// What stands in a `records` array: a record, the trace of a deleted one, or why there is none.
package enum RecordResult: Hashable, Sendable {
    /// A record.
    case record(WireRecord)
    /// A record that was deleted.
    case tombstone(Tombstone)
    /// What went wrong with one record.
    case error(WireError)
}

/// The trace of a deleted record.
package struct Tombstone: Hashable, Sendable {
    /// The record's name.
    package var recordName: String
    /// The record's zone; nil where the message names it.
    package var zoneID: ZoneID?
    /// The type the record had. An extra key: Apple's protocol doesn't tell.
    package var recordType: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a tombstone.
    package init(recordName: String, zoneID: ZoneID? = nil, recordType: String? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.recordType = recordType
    }
}
