public import Foundation

/// A zone: a set of records that are saved together and whose changes can be followed.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// A zone's identity.
    public typealias ID = CKRecordZoneID

    /// What a zone can do.
    public struct Capabilities: OptionSet, Sendable, Hashable {
        /// The bits, as Apple numbers them.
        public let rawValue: UInt

        /// Makes the set with these bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Its changes since a token can be fetched.
        public static let fetchChanges = Capabilities(rawValue: 1)
        /// Several records are saved all or none.
        public static let atomic = Capabilities(rawValue: 2)
        /// Records of it can be shared.
        public static let sharing = Capabilities(rawValue: 4)
        /// It can be shared as a whole.
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    /// The zone that every database has.
    public static func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }

    /// The zone's identity.
    public let zoneID: CKRecordZoneID
    /// What the zone can do. Known once it was saved or fetched; empty before.
    public let capabilities: Capabilities
    /// The share of the whole zone. Sharing isn't there yet, so this is nil.
    public let share: CKReference?

    /// Makes a zone of the user's own.
    public convenience init(zoneName: String) {
        self.init(zoneID: CKRecordZoneID(zoneName: zoneName))
    }

    /// Makes a zone with `zoneID`.
    public convenience init(zoneID: CKRecordZoneID) {
        self.init(zoneID: zoneID, capabilities: [])
    }

    package init(zoneID: CKRecordZoneID, capabilities: Capabilities) {
        self.zoneID = zoneID
        self.capabilities = capabilities
        share = nil
    }

    /// A zone never changes, so this is the zone itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is the same zone.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordZone)?.zoneID == zoneID
    }

    /// The same for equal zones.
    public override var hash: Int { zoneID.hash }

    /// The zone's identity, for logs.
    public override var description: String { "<CKRecordZone: \(zoneID)>" }

    /// Zones can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the zone to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        coder.encode(Int(capabilities.rawValue), forKey: "Capabilities")
    }

    /// Reads a zone from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        capabilities = Capabilities(rawValue: UInt(clamping: coder.decodeInteger(forKey: "Capabilities")))
        share = nil
    }
}
