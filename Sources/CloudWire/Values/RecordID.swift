internal import System

/// The ID of a record: its name, unique in its zone, and the zone.
package struct RecordID: Hashable, Comparable, Sendable {
    /// The record's name.
    package var recordName: String
    /// The record's zone.
    package var zoneID: ZoneID

    /// Makes an ID.
    package init(recordName: String, zoneID: ZoneID = ZoneID()) {
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Returns true if zone and name are equal, compared by bytes.
    package static func == (left: RecordID, right: RecordID) -> Bool {
        left.recordName.hasSameBytes(as: right.recordName) && left.zoneID == right.zoneID
    }

    /// Orders by zone, then by name.
    package static func < (left: RecordID, right: RecordID) -> Bool {
        left.zoneID == right.zoneID ? left.recordName < right.recordName : left.zoneID < right.zoneID
    }
}
