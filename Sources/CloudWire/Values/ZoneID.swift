internal import System

/// The ID of a record zone: a name and the owner of its database.
package struct ZoneID: Hashable, Comparable, Sendable {
    /// The zone every database has without creating it.
    package static let defaultZoneName = "_defaultZone"

    /// The zone's name, unique in its owner's database.
    package var zoneName: String
    /// The record name of the zone's owner, or nil for the caller.
    package var ownerRecordName: String?
    /// What Apple's servers add for information (`REGULAR_CUSTOM_ZONE`); no part of the zone's identity.
    package var zoneType: String?

    /// Names a zone.
    package init(
        zoneName: String = ZoneID.defaultZoneName, ownerRecordName: String? = nil, zoneType: String? = nil
    ) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
        self.zoneType = zoneType
    }

    /// True if this is the zone that every database has.
    package var isDefault: Bool { zoneName == ZoneID.defaultZoneName }

    /// Equal when name and owner are the same bytes; the zone type is information only.
    package static func == (left: ZoneID, right: ZoneID) -> Bool {
        left.zoneName.hasSameBytes(as: right.zoneName)
            && left.ownerRecordName.hasSameBytes(as: right.ownerRecordName)
    }

    /// Orders by owner (none first), then by name.
    package static func < (left: ZoneID, right: ZoneID) -> Bool {
        (left.ownerRecordName ?? "", left.zoneName) < (right.ownerRecordName ?? "", right.zoneName)
    }

    /// Hashes what identifies the zone.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(zoneName)
        hasher.combine(ownerRecordName)
    }
}
