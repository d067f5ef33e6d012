internal import System

/// The ID of a record zone: its name and the owner of its database.
package struct ZoneID: Hashable, Comparable, Sendable {
    /// Name of the zone that exists in each database without being created.
    package static let defaultZoneName = "_defaultZone"

    /// The zone's name, unique in its owner's database.
    package var zoneName: String
    /// The record name of the zone's owner, or nil for the caller.
    package var ownerRecordName: String?
    /// Information that Apple's servers add (`REGULAR_CUSTOM_ZONE`). Not part of the zone's identity.
    package var zoneType: String?

    /// Makes an ID.
    package init(
        zoneName: String = ZoneID.defaultZoneName, ownerRecordName: String? = nil, zoneType: String? = nil
    ) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
        self.zoneType = zoneType
    }

    /// True for the zone that exists in each database.
    package var isDefault: Bool { zoneName == ZoneID.defaultZoneName }

    /// Returns true if name and owner are the same bytes. Ignores the zone type.
    package static func == (left: ZoneID, right: ZoneID) -> Bool {
        left.zoneName.hasSameBytes(as: right.zoneName)
            && left.ownerRecordName.hasSameBytes(as: right.ownerRecordName)
    }

    /// Orders by owner (nil first), then by name.
    package static func < (left: ZoneID, right: ZoneID) -> Bool {
        (left.ownerRecordName ?? "", left.zoneName) < (right.ownerRecordName ?? "", right.zoneName)
    }

    /// Hashes the name and the owner.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(zoneName)
        hasher.combine(ownerRecordName)
    }
}
