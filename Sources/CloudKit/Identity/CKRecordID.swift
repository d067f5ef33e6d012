public import Foundation
internal import System

/// The ID of a record: its name and its zone.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The record's name, unique in its zone. Maximum 255 characters.
    public let recordName: String
    /// The record's zone.
    public let zoneID: CKRecordZoneID

    /// Makes the ID of the record `recordName` in `zoneID`.
    public init(recordName: String, zoneID: CKRecordZoneID = .default) {
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Makes the ID of a record with a random name in `zoneID`.
    public convenience init(zoneID: CKRecordZoneID = .default) {
        self.init(recordName: SystemRandomSource().nextUUID(), zoneID: zoneID)
    }

    /// Returns the ID itself, because a record ID never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same ID.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordID else { return false }
        return self === other
            || recordName == other.recordName && (zoneID === other.zoneID || zoneID == other.zoneID)
    }

    /// The same for equal IDs. Without the zone: few apps use one name in several zones, and IDs are keys everywhere in
    /// an operation.
    public override var hash: Int { recordName.hashValue }

    /// Name and zone, for logs.
    public override var description: String {
        "<CKRecordID: \(recordName):(\(zoneID.zoneName):\(zoneID.ownerName))>"
    }

    // MARK: Archives (keys as Apple's)

    /// Record IDs can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the ID in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(recordName as NSString, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// Reads an ID from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let recordName = coder.string(forKey: "RecordName"),
            let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID")
        else { return nil }
        self.recordName = recordName
        self.zoneID = zoneID
    }
}
