public import Foundation
internal import System

/// The identity of a record: its name and the zone it lies in.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The record's name, unique in its zone, at most 255 characters.
    public let recordName: String
    /// The zone in which the record lies.
    public let zoneID: CKRecordZoneID

    /// Makes the identity of the record `recordName` in `zoneID`.
    public init(recordName: String, zoneID: CKRecordZoneID = .default) {
        self.recordName = recordName
        self.zoneID = zoneID
    }

    /// Makes the identity of a record with a random name in `zoneID`.
    public convenience init(zoneID: CKRecordZoneID = .default) {
        self.init(recordName: SystemRandomSource().nextUUID(), zoneID: zoneID)
    }

    /// A record ID never changes, so this is the ID itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` names the same record of the same zone.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordID else { return false }
        return self === other
            || recordName == other.recordName && (zoneID === other.zoneID || zoneID == other.zoneID)
    }

    /// The same for equal IDs. The zone isn't in it: few apps give one name to records of several zones, and IDs are
    /// keys of all that an operation does.
    public override var hash: Int { recordName.hashValue }

    /// Name and zone, for logs.
    public override var description: String {
        "<CKRecordID: \(recordName):(\(zoneID.zoneName):\(zoneID.ownerName))>"
    }

    // MARK: Archives (keys as Apple's)

    /// Record IDs can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the ID to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(recordName as NSString, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// Reads an ID from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let recordName = coder.string(forKey: "RecordName"),
            let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID")
        else { return nil }
        self.recordName = recordName
        self.zoneID = zoneID
    }
}
