internal import System

/// The name of a record: unique in its zone.
package struct RecordID: Hashable, Comparable, Sendable {
    /// The record's name.
    package var recordName: String
    /// The zone the record is in.
    package var zoneID: ZoneID

    /// Names a record.
    package init(recordName: String, zoneID: ZoneID = ZoneID()) {
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Equal when zone and name are, in the same bytes.
    package static func == (left: RecordID, right: RecordID) -> Bool {
        left.recordName.hasSameBytes(as: right.recordName) && left.zoneID == right.zoneID
    }

    /// Orders by zone, then by name.
    package static func < (left: RecordID, right: RecordID) -> Bool {
        left.zoneID == right.zoneID ? left.recordName < right.recordName : left.zoneID < right.zoneID
    }
}
