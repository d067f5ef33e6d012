public import Foundation
internal import System

/// A zone: a set of records with atomic saves and change tokens.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, Sendable {
    // Only the scope of encryption changes, behind a lock.

    /// A zone's ID.
    public typealias ID = CKRecordZoneID

    /// Capabilities of a zone.
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

    /// The records that have a key of their own.
    public enum EncryptionScope: Int, Sendable, Hashable {
        /// Each record.
        case perRecord = 0
        /// The zone.
        case perZone = 1
    }

    /// Returns the zone that every database has.
    public static func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }

    /// The zone's ID.
    public let zoneID: CKRecordZoneID
    /// The zone's capabilities. Empty until the zone is saved or fetched.
    public let capabilities: Capabilities
    /// The share of the whole zone. Always nil, because sharing isn't available yet.
    /// - Note: Coming: with sharing.
    public let share: CKReference?
    private let scope = Lock(EncryptionScope.perRecord)

    /// The records with separate encryption keys. The value is stored and archived. It isn't sent, because
    /// the service has no keys for users' records.
    /// - Note: Inert: the service doesn't encrypt records with keys of their own.
    public var encryptionScope: EncryptionScope {
        get { scope.withLock { $0 } }
        set { scope.withLock { $0 = newValue } }
    }

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

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecordZone(zoneID: zoneID, capabilities: capabilities)
        copy.encryptionScope = encryptionScope
        return copy
    }

    /// Returns true if `object` is the same zone.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordZone)?.zoneID == zoneID
    }

    /// The same for equal zones.
    public override var hash: Int { zoneID.hash }

    /// The zone's ID, for logs.
    public override var description: String { "<CKRecordZone: \(zoneID)>" }

    /// Zones can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the zone in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        coder.encode(Int(capabilities.rawValue), forKey: "Capabilities")
        coder.encode(encryptionScope.rawValue, forKey: "EncryptionScope")
    }

    /// Reads a zone from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        capabilities = Capabilities(rawValue: UInt(clamping: coder.decodeInteger(forKey: "Capabilities")))
        share = nil
        super.init()
        encryptionScope =
            EncryptionScope(rawValue: coder.decodeInteger(forKey: "EncryptionScope")) ?? .perRecord
    }
}
