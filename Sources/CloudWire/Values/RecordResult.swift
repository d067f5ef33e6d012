/// An element of a `records` array: a record, a tombstone or an error.
package enum RecordResult: Hashable, Sendable {
    /// A record.
    case record(WireRecord)
    /// A record that was deleted.
    case tombstone(Tombstone)
    /// The record's error.
    case error(WireError)
}

/// The tombstone of a deleted record.
package struct Tombstone: Hashable, Sendable {
    /// The record's name.
    package var recordName: String
    /// The record's zone. Nil if the message contains it.
    package var zoneID: ZoneID?
    /// The record's type. Our own key.
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
