// The global names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The owner name that means "the user of this device".
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The ID of a zone: its name and its owner.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"
    /// The zone that every database has.
    public static let `default` = CKRecordZoneID(
        zoneName: defaultZoneName, ownerName: CKCurrentUserDefaultName)

    /// The zone's name. Maximum 255 characters.
    public let zoneName: String
    /// The user record name of the owner, or `CKCurrentUserDefaultName`.
    public let ownerName: String

    /// Makes the ID of the zone `zoneName` of `ownerName`.
    public init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName
    ) {
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// Makes the ID of the zone `zoneName` of `ownerName`; nil for the user's own zone.
    @available(*, deprecated, renamed: "init(zoneName:ownerName:)")
    @_disfavoredOverload
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String?
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// Returns the ID itself, because a zone ID never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same ID.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneID else { return false }
        return self === other || zoneName == other.zoneName && ownerName == other.ownerName
    }

    /// The same for equal IDs.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(zoneName)
        hasher.combine(ownerName)
        return hasher.finalize()
    }

    /// Zone and owner, for logs.
    public override var description: String { "<CKRecordZoneID: \(zoneName):\(ownerName)>" }

    // MARK: Archives (keys as Apple's)

    /// Zone IDs can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the ID in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneName as NSString, forKey: "ZoneName")
        coder.encode(ownerName as NSString, forKey: "ownerName")
    }

    /// Reads an ID from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let zoneName = coder.string(forKey: "ZoneName") else { return nil }
        self.zoneName = zoneName
        ownerName = coder.string(forKey: "ownerName") ?? CKCurrentUserDefaultName
    }
}
